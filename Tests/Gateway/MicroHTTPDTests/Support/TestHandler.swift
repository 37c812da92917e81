internal import MicroHTTPD

/// A handler from a closure; without one it echoes the request.
struct TestHandler: HTTPHandler {
    var answer: @Sendable (HTTPRequest, HTTPResponder) -> HTTPDecision
    /// The response to a head that is rejected.
    var rejection: @Sendable (HTTPRequest) -> HTTPResponse? = { _ in nil }
    /// The caller whose share the body of a request counts towards.
    var caller: @Sendable (HTTPRequest) -> String? = { _ in nil }
    /// Whether no request needs its body.
    var ignoresBodies = false

    init(_ answer: @escaping @Sendable (HTTPRequest, HTTPResponder) -> HTTPDecision = TestHandler.echo) {
        self.answer = answer
    }

    func screen(_ head: HTTPRequest) -> HTTPScreening {
        if let rejection = rejection(head) { return .reject(rejection) }
        return ignoresBodies ? .acceptIgnoringBody(handle) : .accept(handle, caller: caller(head))
    }

    func isOperational(_ head: HTTPRequest) -> Bool { head.rawPath == "/health" }

    func connectionsRefused(reason: String) {}

    func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision {
        answer(request, responder)
    }

    func refusal(for refusal: RequestRefusal, from peer: PeerAddress, headers: HTTPFields) -> HTTPResponse {
        HTTPResponse(
            status: refusal.status,
            headers: [
                HTTPField("Content-Type", "application/problem+json"),
                HTTPField("X-Request-Id", headers["X-Request-Id"] ?? "none"),
                HTTPField("X-Peer", peer.host),
            ],
            body: .bytes(Array("{\"code\":\"\(refusal)\"}".utf8))
        )
    }

    /// Method, path, query, header lines and body, one a line.
    static let echo: @Sendable (HTTPRequest, HTTPResponder) -> HTTPDecision = { request, _ in
        var lines = [request.method, request.rawPath, request.rawQuery ?? "no query"]
        lines += request.headers.lines.map { "\($0.name)=\($0.value)" }
        lines.append(String(decoding: request.body, as: UTF8.self))
        return .respond(HTTPResponse(status: 200, body: .bytes(Array(lines.joined(separator: "\n").utf8))))
    }
}
