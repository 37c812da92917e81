internal import MicroHTTPD

/// Refuses requests from pages of other origins that would use rights which the browser adds by itself: the rights of a
/// cookie or, without authentication, the rights of the machine that the browser runs on.
struct RequestForgery: Sendable {
    /// The origins whose pages may send such requests.
    let origins: [String]

    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// Refuses a request that a page of another site causes.
    ///
    /// - Parameters:
    ///   - withCookie: The rights come from a cookie. A request that changes state must then have an origin that the
    ///     list names; `*` does not suffice, since it permits reading and not acting for a user.
    ///   - opensStream: The request opens a stream. A stream subscribes, so a `GET` of one is checked as a request that
    ///     changes state.
    func check(_ request: HTTPRequest, withCookie: Bool, opensStream: Bool = false) throws(Problem) {
        let isSafe = !opensStream && Self.safeMethods.contains(request.method)
        if isSafe, !withCookie { return }
        let site = request.headers["Sec-Fetch-Site"]?.lowercased()
        if let origin = request.headers["Origin"] {
            if site == "same-origin" || isOwn(origin, request) || isListed(origin, withCookie: withCookie) { return }
        } else {
            switch site {
            case "same-origin", "none": return
            case nil:
                // A client that is not a browser sends neither header.
                if isSafe || !withCookie { return }
            default:
                // A navigation reads, and its result is not visible to the page with the link.
                if isSafe, request.headers["Sec-Fetch-Mode"]?.lowercased() == "navigate" { return }
            }
        }
        let isOfNoPage = site == nil && request.headers["Origin"] == nil
        var problem = Challenge.insufficient(
            nil,
            isOfNoPage
                ? "A change with the cookie must come from a page: use Authorization: Bearer."
                : "The request was sent by a page of another origin."
        )
        problem.refusedName = request.headers["Origin"].map { .origin($0) }
        throw problem
    }

    private func isListed(_ origin: String, withCookie: Bool) -> Bool {
        origins.contains { $0 == origin || (!withCookie && $0 == "*") }
    }

    /// Whether an origin is the gateway's own. Schemes are not compared: behind a proxy that ends TLS they differ.
    private func isOwn(_ origin: String, _ request: HTTPRequest) -> Bool {
        guard let host = request.headers["Host"], let range = origin.firstRange(of: "://") else { return false }
        return !host.isEmpty && origin[range.upperBound...].lowercased() == host.lowercased()
    }
}

/// CORS (the Fetch standard) for the origins of the configuration in force. Cookies are permitted only to origins that
/// the configuration names, not to those of `*`.
struct CORSMiddleware: ResponseMiddleware {
    /// Has the policy in force.
    let access: AccessControl

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        guard call.request.method == "OPTIONS", call.request.headers["Access-Control-Request-Method"] != nil,
            let origin = call.request.headers["Origin"], Self.allows(origin, access.policy.configuration.origins)
        else { return nil }
        var response = Response(status: 204)
        response.headers = [
            HTTPField("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"),
            HTTPField(
                "Access-Control-Allow-Headers",
                "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
                    + "MCP-Protocol-Version, Mcp-Session-Id, Prefer, X-Request-Id, traceparent"
            ),
            HTTPField("Access-Control-Max-Age", "600"),
        ]
        return response
    }

    func finish(_ headers: inout HTTPFields, for request: HTTPRequest) {
        let policy = access.policy
        let origins = policy.configuration.origins
        guard !origins.isEmpty else { return }
        headers.append("Vary", "Origin")
        guard let origin = request.headers["Origin"], Self.allows(origin, origins) else { return }
        let isNamed = origins.contains(origin)
        headers.append("Access-Control-Allow-Origin", isNamed ? origin : "*")
        headers.append(
            "Access-Control-Expose-Headers",
            "Accept-Patch, Allow, ETag, Idempotency-Replayed, Link, Location, Mcp-Session-Id, Preference-Applied, RateLimit, "
                + "RateLimit-Policy, Retry-After, WWW-Authenticate, X-Request-Id"
        )
        if isNamed, !policy.isOpen, policy.configuration.cookie != nil {
            headers.append("Access-Control-Allow-Credentials", "true")
        }
    }

    private static func allows(_ origin: String, _ origins: [String]) -> Bool {
        origins.contains("*") || origins.contains(origin)
    }
}
