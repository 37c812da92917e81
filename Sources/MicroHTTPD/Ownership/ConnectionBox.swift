/// The library's reference to a connection's record: its socket context.
///
/// Retained when the connection callback says "started"; released once, when it says "closed".
enum ConnectionBox {
    /// Retains the record for the library.
    static func retain(_ record: ConnectionRecord) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(record).toOpaque()
    }

    /// The record behind the pointer, which stays retained.
    static func record(at context: UnsafeMutableRawPointer?) -> ConnectionRecord? {
        context.map { Unmanaged<ConnectionRecord>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Takes the record back: the one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) -> ConnectionRecord? {
        context.map { Unmanaged<ConnectionRecord>.fromOpaque($0).takeRetainedValue() }
    }
}
