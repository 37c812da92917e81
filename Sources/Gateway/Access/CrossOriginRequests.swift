internal import MicroHTTPD

/// Refuses requests of other origins' pages that would use rights which a browser adds by itself: those of a cookie, and
/// without authentication those of the machine that the browser runs on.
struct RequestForgery: Sendable {
    /// The origins whose pages may send such requests.
    let origins: [String]

    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// Refuses a request that a page of another site causes.
    ///
    /// - Parameters:
    ///   - withCookie: The rights come from a cookie. A request that changes state must then have an origin that the list
    ///     names; `*` does not suffice, since it permits reading and not acting for a user.
    ///   - opensStream: The request opens a stream. A stream subscribes, so a `GET` of one is checked as a request that
    ///     changes state.
    func check(_ request: HTTPRequest, withCookie: Bool, opensStream: Bool = false) throws(Problem) {
        let isSafe = Self.safeMethods.contains(request.method) && !opensStream
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
        throw Challenge.insufficient(nil, "The request was sent by a page of another origin.")
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

/// Applies the CORS policy of the configuration in force. Cookies are permitted only to origins that it names.
struct CORSMiddleware: Middleware {
    /// The policy in force.
    let policy: @Sendable () -> AccessPolicy

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        try CORSPolicy(origins: policy().configuration.origins).admit(&call, operation: operation)
    }

    func finish(_ headers: inout HTTPFields, for request: HTTPRequest) {
        let policy = policy()
        let origins = policy.configuration.origins
        CORSPolicy(origins: origins).finish(&headers, for: request)
        guard let origin = request.headers["Origin"], origins.contains(origin), !origins.contains("*"),
            !policy.isOpen, policy.configuration.cookie != nil
        else { return }
        headers.append("Access-Control-Allow-Credentials", "true")
    }
}
