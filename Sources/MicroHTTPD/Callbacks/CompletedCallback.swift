internal import CMicroHTTPD

/// Called on the loop's thread when a request is over, however it ended. Releases the exchange, its context.
func completedCallback(
    context: UnsafeMutableRawPointer?,
    connection: OpaquePointer?,
    requestContext: UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
    reason: MHD_RequestTerminationCode
) {
    guard let requestContext, let exchange = RequestBox.release(requestContext.pointee) else { return }
    requestContext.pointee = nil
    exchange.front.completed(exchange, reason)
}
