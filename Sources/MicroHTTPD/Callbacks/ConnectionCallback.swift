internal import CMicroHTTPD

/// Called on the loop's thread when a connection has been accepted and when it has been closed, with the front. The
/// record is retained for the first and released for the second.
func connectionCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    socketContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    notice: MHD_ConnectionNotificationCode
) {
    guard let front = HTTPServerBox.front(at: context), let connection, let socketContext else { return }
    if notice == .CONNECTION_NOTIFY_STARTED {
        socketContext.pointee = ConnectionBox.retain(front.started(connection))
    } else if let record = ConnectionBox.release(socketContext.pointee) {
        socketContext.pointee = nil
        front.closed(record)
    }
}
