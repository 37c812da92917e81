internal import StreamIO

/// A reference that C code holds to a Swift object. The comment of each alias below names the holder, the place where
/// the object is retained, and the one call that releases it.
enum Box<Object: AnyObject> {
    /// Retains the object for the C side.
    static func retain(_ object: Object) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(object).toOpaque()
    }

    /// A pointer to an object that outlives its use by the C side; not retained.
    static func pass(_ object: Object) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(object).toOpaque()
    }

    /// The object behind the pointer. Its reference count does not change.
    static func object(at context: UnsafeMutableRawPointer?) -> Object? {
        guard let context else { return nil }
        return Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
    }

    /// Releases the reference that `retain` took, and returns the object.
    @discardableResult
    static func release(_ context: UnsafeMutableRawPointer?) -> Object? {
        guard let context else { return nil }
        return Unmanaged<Object>.fromOpaque(context).takeRetainedValue()
    }
}

/// The library's reference to a server: the first argument of its callbacks. Not retained: a server stops its daemon,
/// and with it all callbacks, before it is freed.
typealias HTTPServerBox = Box<HTTPServer>

/// The library's reference to a connection's record: its socket context. Retained when the connection callback reports
/// the start; released when it reports the end.
typealias ConnectionBox = Box<ConnectionRecord>

/// The library's reference to an exchange: its request context. Retained in the request-line callback; released in the
/// request-completed callback, which the library calls for every request whose line it reported.
typealias RequestBox = Box<Exchange>

/// The library's reference to the shared bytes of a response. Retained when the response is made; released in the
/// free-callback of the response.
typealias BodyBox = Box<SharedBytes>

/// A new thread's reference to the driver that it runs. Retained before the thread is created; released in the thread's
/// first function, or at once if the thread could not be created.
typealias ThreadBox = Box<LoopDriver>
