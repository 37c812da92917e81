internal import StreamIO

/// The library's reference to the shared bytes of a response.
///
/// Retained when the response is made; released once, in the free-callback of the response.
enum BodyBox {
    /// Retains the bytes for the library.
    static func retain(_ bytes: SharedBytes) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(bytes).toOpaque()
    }

    /// The one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) {
        guard let context else { return }
        Unmanaged<SharedBytes>.fromOpaque(context).release()
    }
}
