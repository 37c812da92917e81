internal import MicroHTTPD

/// A step before every handler, such as authentication or a rate limit.
///
/// Requests pass the steps in order, responses in reverse order.
protocol Middleware: Sendable {
    /// Checks a request. May set the caller; returns a response to skip the handler; throws a problem to reject the
    /// request.
    func admit(_ call: inout Call, operation: Operation?) throws -> Response?

    /// Adds headers to a response, or to the head of a stream.
    func finish(_ headers: inout HTTPFields, for request: HTTPRequest)
}

extension Middleware {
    /// Accepts every request.
    func admit(_ call: inout Call, operation: Operation?) throws -> Response? { nil }

    /// Adds nothing.
    func finish(_ headers: inout HTTPFields, for request: HTTPRequest) {}
}

/// The origins whose web pages may use the gateway (the CORS protocol of the Fetch standard).
struct CORSPolicy: Middleware {
    /// The allowed origins, as in `Origin`; `*` allows any. By default only the origin of the gateway.
    var origins: [String] = []

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        guard call.request.method == "OPTIONS", let origin = call.request.headers["Origin"], allows(origin),
            call.request.headers["Access-Control-Request-Method"] != nil
        else { return nil }
        var response = Response(status: 204)
        response.headers = [
            HTTPField("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
            HTTPField(
                "Access-Control-Allow-Headers",
                "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, "
                    + "X-Request-Id, traceparent"
            ),
            HTTPField("Access-Control-Max-Age", "600"),
        ]
        return response
    }

    func finish(_ headers: inout HTTPFields, for request: HTTPRequest) {
        guard !origins.isEmpty else { return }
        headers.append("Vary", "Origin")
        guard let origin = request.headers["Origin"], allows(origin) else { return }
        headers.append("Access-Control-Allow-Origin", origins.contains("*") ? "*" : origin)
        headers.append(
            "Access-Control-Expose-Headers",
            "Accept-Patch, Allow, ETag, Idempotency-Replayed, Link, Location, Preference-Applied, RateLimit, "
                + "RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
        )
    }

    private func allows(_ origin: String) -> Bool { origins.contains("*") || origins.contains(origin) }
}
