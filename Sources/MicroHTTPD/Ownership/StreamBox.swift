/// The library's reference to a stream that it reads itself (TLS).
///
/// Retained when the response is made; released once, in the free-callback of the response.
enum StreamBox {
    /// Retains the writer for the library.
    static func retain(_ writer: SecureStreamWriter) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(writer).toOpaque()
    }

    /// The writer behind the pointer, which stays retained.
    static func writer(at context: UnsafeMutableRawPointer?) -> SecureStreamWriter? {
        context.map { Unmanaged<SecureStreamWriter>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<SecureStreamWriter>.fromOpaque(context).release()
    }
}
