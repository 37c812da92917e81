internal import StreamIO

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

/// A new thread's reference to the driver that it runs.
///
/// Retained before the thread is created; released once, in the thread's first function (or at once if the thread could
/// not be created).
enum ThreadBox {
    /// Retains the driver for the thread.
    static func retain(_ driver: LoopDriver) -> UnsafeMutableRawPointer {
        Unmanaged.passRetained(driver).toOpaque()
    }

    /// Takes the driver back: the one release of `retain`.
    static func release(_ context: UnsafeMutableRawPointer?) -> LoopDriver? {
        context.map { Unmanaged<LoopDriver>.fromOpaque($0).takeRetainedValue() }
    }
}
