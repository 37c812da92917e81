/// What the front end asks for every request: the one way from libmicrohttpd into the program behind it.
///
/// With more than one shard the methods are called on several threads at once, on each for its own connections. They
/// run on the thread that also writes all streams, so they must not block: what has to wait answers `.wait`.
package protocol HTTPHandler: Sendable {
    /// Answers a complete request.
    ///
    /// - Parameters:
    ///   - request: The request with its whole body.
    ///   - responder: The way to answer later, after `.wait`; needless for the other decisions.
    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision

    /// The answer to a request that the front end itself refuses; `Connection: close` is added to it.
    ///
    /// Its status should be `refusal.status`; the body is free, for example a problem document.
    func refusal(for refusal: RequestRefusal) -> HTTPResponse
}

extension HTTPHandler {
    /// A plain-text answer with the refusal's status and explanation.
    package func refusal(for refusal: RequestRefusal) -> HTTPResponse {
        HTTPResponse(
            status: refusal.status,
            headers: [HTTPField("Content-Type", "text/plain; charset=utf-8")],
            body: .bytes(Array("\(refusal.explanation)\n".utf8))
        )
    }
}
