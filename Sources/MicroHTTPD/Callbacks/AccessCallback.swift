internal import CMicroHTTPD

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
    guard let exchange = RequestBox.exchange(at: requestContext?.pointee), let method, let version, let uploadSize
    else { return .NO }
    let part = UnsafeRawBufferPointer(start: upload, count: uploadSize.pointee)
    uploadSize.pointee = 0
    return exchange.front.advance(exchange, method: method, version: version, part: part)
}
