/// The library's reference to a front: the first argument of its callbacks. Not retained, for a front stops its daemon,
/// and with it all callbacks, before it goes.
enum HTTPServerBox {
    /// A pointer to the front.
    static func pass(_ front: HTTPServer) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(front).toOpaque()
    }

    /// The front behind the pointer.
    static func front(at context: UnsafeMutableRawPointer?) -> HTTPServer? {
        context.map { Unmanaged<HTTPServer>.fromOpaque($0).takeUnretainedValue() }
    }
}
