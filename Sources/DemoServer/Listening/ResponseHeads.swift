internal import NIOHTTP1

enum ResponseHeads {
    /// The head of a response that streams, with the value of the header `Date`.
    static func stream(for request: HTTPRequestHead, date: String) -> HTTPResponseHead {
        var headers = common(for: request, date)
        // Not text/plain: some clients buffer the beginning of such a body for content sniffing.
        headers.add(name: "Content-Type", value: "text/enriched; charset=UTF-8")
        headers.add(name: "X-Accel-Buffering", value: "no")
        if request.version == .http1_1 {
            headers.add(name: "Transfer-Encoding", value: "chunked")
        } else {
            headers.add(name: "Connection", value: "close")
        }
        return HTTPResponseHead(version: request.version, status: .ok, headers: headers)
    }

    /// The head of a response whose body is known.
    static func short(
        _ answer: HTTPAnswer,
        for request: HTTPRequestHead,
        closes: Bool,
        date: String
    ) -> HTTPResponseHead {
        var headers = common(for: request, date)
        headers.add(name: "Content-Type", value: "text/plain; charset=UTF-8")
        headers.add(name: "Content-Length", value: String(answer.body.count))
        if answer.status == 405 { headers.add(name: "Allow", value: "POST, GET, OPTIONS") }
        if closes {
            headers.add(name: "Connection", value: "close")
        } else if request.version != .http1_1 {
            headers.add(name: "Connection", value: "keep-alive")
        }
        return HTTPResponseHead(
            version: request.version,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
    }

    /// The headers of every response: no caching, access for every origin.
    private static func common(for request: HTTPRequestHead, _ date: String) -> HTTPHeaders {
        var headers = HTTPHeaders()
        headers.add(name: "Date", value: date)
        headers.add(name: "Cache-Control", value: "no-store, no-transform, no-cache")
        headers.add(name: "Pragma", value: "no-cache")
        headers.add(name: "Expires", value: "Thu, 1 Jan 1970 00:00:00 GMT")
        guard let origin = request.headers.first(name: "Origin") else { return headers }
        headers.add(name: "Access-Control-Allow-Origin", value: origin)
        headers.add(name: "Access-Control-Allow-Credentials", value: "true")
        headers.add(name: "Vary", value: "Origin")
        if request.method == .OPTIONS {
            headers.add(name: "Access-Control-Allow-Methods", value: "POST, GET, OPTIONS")
            headers.add(name: "Access-Control-Max-Age", value: "3600")
            if let asked = request.headers.first(name: "Access-Control-Request-Headers") {
                headers.add(name: "Access-Control-Allow-Headers", value: asked)
            }
        }
        return headers
    }
}
