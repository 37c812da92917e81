internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// Called on the loop's thread when a connection has been added and when it has been closed, with the server. The
/// record is retained for the first and released for the second.
func connectionCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    notice: MHD_ConnectionNotificationCode
) {
    guard let server = HTTPServerBox.object(at: context), let connection, let socketContext else { return }
    if notice == .CONNECTION_NOTIFY_STARTED {
        socketContext.pointee = server.started(connection).map(ConnectionBox.retain)
    } else if let record = ConnectionBox.release(socketContext.pointee) {
        socketContext.pointee = nil
        server.closed(record)
    }
}

/// Called on the loop's thread when a request line has been read, with the server, before anything in it is decoded.
/// The result becomes the request's context: the new exchange, retained until `completedCallback`.
func requestLineCallback(
    context: UnsafeMutableRawPointer?,
    target: UnsafePointer<CChar>?,
    connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let server = HTTPServerBox.object(at: context), let target, let connection,
        let record = ConnectionBox.object(at: cmhd_socket_context(connection))
    else { return nil }
    let line = TargetText(taking: target)
    return RequestBox.retain(server.requestBegan(target: line, connection, record))
}

/// Called on the loop's thread for every part of a request target. Changes nothing: the raw target is kept from the
/// request line, since segments are split before decoding.
func unescapeCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    text: UnsafeMutablePointer<CChar>?
) -> Int {
    guard let text else { return 0 }
    return strlen(text)
}

/// Called for each header line while `HeaderCollection.collect` asks for them; the context points to the collection on
/// its stack. The bytes are copied.
func headerCallback(
    context: UnsafeMutableRawPointer?,
    kind: MHD_ValueKind,
    name: UnsafePointer<CChar>?,
    nameSize: Int,
    value: UnsafePointer<CChar>?,
    valueSize: Int
) -> MHD_Result {
    context?.assumingMemoryBound(to: HeaderCollection.self).pointee.add(
        name: UnsafeRawBufferPointer(start: name, count: nameSize),
        value: UnsafeRawBufferPointer(start: value, count: value == nil ? 0 : valueSize)
    )
    return .YES
}

/// Called on the loop's thread when a head has been read, for each part of a body, and when the request is complete;
/// again after each resume. The request's context is the exchange, which stays retained.
func accessCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    target: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?,
    version: UnsafePointer<CChar>?,
    upload: UnsafePointer<CChar>?,
    uploadSize: UnsafeMutablePointer<Int>?,
    requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let exchange = RequestBox.object(at: requestContext?.pointee), let method, let version, let uploadSize
    else { return .NO }
    let part = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    uploadSize.pointee = 0
    return exchange.server.advance(exchange, method: method, version: version, part: part)
}

/// Called on the loop's thread at the end of a request, in every case. Releases the exchange, its context.
func completedCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    reason: MHD_RequestTerminationCode
) {
    guard let requestContext, let exchange = RequestBox.release(requestContext.pointee) else { return }
    requestContext.pointee = nil
    exchange.server.completed(exchange)
}

/// The content reader of a response without a body, to `HEAD` or with 304: the library requires one and never calls it.
func noContentCallback(
    context: UnsafeMutableRawPointer?,
    position: UInt64,
    buffer: UnsafeMutablePointer<CChar>?,
    size: Int
) -> Int {
    -1  // `MHD_CONTENT_READER_END_OF_STREAM`, a macro with a cast, which Swift does not import.
}

/// Called on the loop's thread when a response with shared bytes is freed: releases the bytes.
func bodyFreeCallback(context: UnsafeMutableRawPointer?) { BodyBox.release(context) }

/// The first function of a loop's thread. Releases its context, the driver, which the thread's stack holds from now on.
func loopThreadCallback(context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    ThreadBox.release(context)?.run()
    return nil
}

/// References that C code holds to Swift objects. The comment of each alias below names the C code, the place where the
/// object is retained, and the one call that releases the object.
enum Box<Object: AnyObject> {
    /// Retains the object for the C side.
    static func retain(_ object: Object) -> UnsafeMutableRawPointer { Unmanaged.passRetained(object).toOpaque() }

    /// A pointer to an object that outlives its use by the C side; not retained.
    static func pass(_ object: Object) -> UnsafeMutableRawPointer { Unmanaged.passUnretained(object).toOpaque() }

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

extension HTTPResponse {
    /// The library's form of the body, without headers; the caller owns its one reference. Nil only if memory is short.
    func makeForLibrary() -> OpaquePointer? {
        switch body {
        case .empty:
            return MHD_create_response_from_buffer(0, nil, .RESPMEM_PERSISTENT)
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    .RESPMEM_MUST_COPY
                )
            }
        case .shared(let shared):
            let context = BodyBox.retain(shared)
            let start = UnsafeMutableRawPointer(mutating: shared.bytes.baseAddress)
            let response = MHD_create_response_from_buffer_with_free_callback_cls(
                shared.count,
                start,
                bodyFreeCallback,
                context
            )
            if response == nil { BodyBox.release(context) }
            return response
        case .omitted(let count):
            let size = count.map { UInt64(max(0, $0)) } ?? .max
            let response = MHD_create_response_from_callback(size, Self.leastBlock, noContentCallback, nil, nil)
            if count == nil, let response { _ = cmhd_leave_unframed(response) }
            return response
        }
    }

    /// The size of the buffer for a content reader that is never called; 0 is refused.
    private static let leastBlock = 1

    /// A status that can be sent: final and in range.
    var sendableStatus: UInt32 { (200...599).contains(status) ? UInt32(status) : 500 }
}

extension HTTPFields {
    /// Adds the lines that a handler may set to a library response.
    ///
    /// - Parameter closing: Adds `Connection: close`.
    func addLines(to response: OpaquePointer, closing: Bool) {
        var isClosing = closing
        for line in lines where line.isSendable {
            if line.name.equalsIgnoringASCIICase("Connection") {
                isClosing = isClosing || line.value.equalsIgnoringASCIICase("close")
            } else {
                // Without the closures, Swift would copy both texts into arrays first.
                _ = line.name.withCString { name in
                    line.value.withCString { MHD_add_response_header(response, name, $0) }
                }
            }
        }
        if isClosing { MHD_add_response_header(response, "Connection", "close") }
    }
}

extension HTTPField {
    /// Whether a handler may send this line: well-formed, and not about the framing, which the server determines.
    var isSendable: Bool {
        guard !name.isEmpty, ByteSet.token.contains(name), ByteSet.value.contains(value) else { return false }
        for framing in ["Content-Length", "Transfer-Encoding", "Date"] where name.equalsIgnoringASCIICase(framing) {
            return false
        }
        return true
    }
}
