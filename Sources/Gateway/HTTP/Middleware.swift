internal import MicroHTTPD

/// Something that stands between the front end and every operation: who may come in, how often, from which pages.
///
/// `HTTPHost` asks its list in order before a request goes to its operation, and in reverse order about each response.
protocol Middleware: Sendable {
    /// Looks at a request. May fill in who the caller is; may respond in place of the operation; may throw a problem.
    func admit(_ call: inout Call, operation: Operation?) throws -> Response?

    /// Adds headers to a response, or to the head of a stream.
    func finish(_ headers: inout HTTPFields, for call: Call)
}

extension Middleware {
    /// Lets every request pass.
    func admit(_ call: inout Call, operation: Operation?) throws -> Response? { nil }

    /// Adds nothing.
    func finish(_ headers: inout HTTPFields, for call: Call) {}
}

/// Which web pages of other origins may use the gateway (the Fetch standard's CORS protocol).
struct CORSPolicy: Middleware {
    /// The origins, as `Origin` has them; `*` stands for any. None by default: pages of the gateway itself only.
    var origins: [String] = []

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        guard call.request.method == "OPTIONS", let origin = call.request.headers["Origin"], allows(origin),
            call.request.headers["Access-Control-Request-Method"] != nil
        else { return nil }
        var response = Response(status: 204)
        response.headers = [
            HTTPField("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE, OPTIONS"),
            HTTPField(
                "Access-Control-Allow-Headers",
                "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, "
                    + "X-Request-Id, traceparent"
            ),
            HTTPField("Access-Control-Max-Age", "600"),
        ]
        return response
    }

    func finish(_ headers: inout HTTPFields, for call: Call) {
        guard !origins.isEmpty else { return }
        headers.append("Vary", "Origin")
        guard let origin = call.request.headers["Origin"], allows(origin) else { return }
        headers.append("Access-Control-Allow-Origin", origins.contains("*") ? "*" : origin)
        headers.append(
            "Access-Control-Expose-Headers",
            "Accept-Patch, Allow, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, RateLimit, "
                + "RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
        )
    }

    private func allows(_ origin: String) -> Bool { origins.contains("*") || origins.contains(origin) }
}
