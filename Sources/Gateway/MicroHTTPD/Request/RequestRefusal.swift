/// The reason for which the server refuses a request before a handler receives it. The connection is closed after the
/// answer.
package enum RequestRefusal: Error, Hashable, CaseIterable {
    case duplicateContentLength
    case contentLengthWithTransferEncoding
    /// A `Transfer-Encoding` that is not the single word `chunked`, or one in HTTP/1.0.
    case unsupportedTransferEncoding
    case duplicateHost
    case missingHost
    case malformedHead
    case unsupportedVersion
    case targetTooLong
    /// The header lines together are longer, or more, than configured.
    case headersTooLarge
    case bodyTooLarge
    /// The bodies of all present requests together are larger than configured.
    case bodyBudgetExceeded
    /// The responses that are being sent are larger than configured.
    case responseBudgetExceeded
    /// All connections are in use, and the request is not an operational one.
    case connectionLimitReached
    /// The server is closing. Requests that wait for their answers are refused as well.
    case closing

    package var status: Int { answer.status }

    /// One English sentence for the client.
    package var explanation: String { answer.explanation }

    private var answer: (status: Int, explanation: String) {
        switch self {
        case .duplicateContentLength: (400, "The request has more than one Content-Length.")
        case .contentLengthWithTransferEncoding: (400, "The request has both Content-Length and Transfer-Encoding.")
        case .unsupportedTransferEncoding: (400, "The only transfer encoding understood is chunked, in HTTP/1.1.")
        case .duplicateHost: (400, "The request has more than one Host.")
        case .missingHost: (400, "An HTTP/1.1 request needs a Host.")
        case .malformedHead: (400, "The request line, a header line, Content-Length or a chunk is malformed.")
        case .unsupportedVersion: (505, "The HTTP version has to be 1.0 or 1.1.")
        case .targetTooLong: (414, "The request target is too long.")
        case .headersTooLarge: (431, "The header lines are too large.")
        case .bodyTooLarge: (413, "The body is too large.")
        case .bodyBudgetExceeded: (503, "The server holds too many request bodies at present.")
        case .responseBudgetExceeded: (503, "The server holds too many unread responses at present.")
        case .connectionLimitReached: (503, "The server has as many connections as its limit allows.")
        case .closing: (503, "The server is stopping.")
        }
    }
}

extension ConnectionRecord {
    /// The handler's response to a request of this connection that is refused; it closes the connection.
    ///
    /// - Parameter connection: The library's connection of the request; nil if the loop has taken it.
    func response(to refusal: RequestRefusal, on connection: OpaquePointer?) -> HTTPResponse {
        server.driver.figures.refusedRequests &+= 1
        let headers = connection.map(HeaderCollection.lines) ?? HTTPFields()
        var response = server.driver.handler.refusal(for: refusal, from: place.peer, headers: headers)
        response.headers.append("Connection", "close")
        return response
    }
}
