/// The library's reference to an exchange: its request context.
///
/// Retained in the request-line callback; released once, in the request-completed callback, which the library calls for
/// every request whose line it reported.
enum RequestBox {
    /// Retains the exchange for the library.
    static func retain(_ exchange: Exchange) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(exchange).toOpaque()
    }

    /// The exchange behind the pointer, which stays retained.
    static func exchange(at context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes the exchange back: the one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) -> Exchange? {
        context.map { Unmanaged<Exchange>.fromOpaque($0).takeRetainedValue() }
    }
}
