internal import CMicroHTTPD
internal import Glibc

/// Called on the loop's thread when a request line has been read, with the front, before anything in it is decoded.
/// What it returns becomes the request's context: the new exchange, retained until `completedCallback`.
func requestLineCallback(
    context: UnsafeMutableRawPointer?,
    target: UnsafePointer<CChar>?,
    connection: OpaquePointer?
) -> UnsafeMutableRawPointer? {
    guard let front = HTTPServerBox.front(at: context), let target, let connection,
        let record = ConnectionBox.record(at: cmhd_socket_context(connection))
    else { return nil }
    let line = TargetText(taking: target)
    return RequestBox.retain(front.requestBegan(target: line, connection, record))
}
