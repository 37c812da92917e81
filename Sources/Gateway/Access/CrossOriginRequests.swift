internal import MicroHTTPD

/// Keeps pages of other origins from using rights that a browser adds by itself: those of a cookie, and those of the
/// machine that it runs on where nobody is asked who they are.
struct RequestForgery: Sendable {
    /// The origins whose pages may.
    let origins: [String]

    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// Refuses a request that another site's page has a browser make.
    ///
    /// - Parameter withCookie: The rights come from a cookie. Then a changing request has to show where it comes from,
    ///   and an origin has to be named in the list: that any may read does not mean that any may act for its user.
    func check(_ request: HTTPRequest, withCookie: Bool) throws(Problem) {
        let isSafe = Self.safeMethods.contains(request.method)
        if isSafe, !withCookie { return }
        let site = request.headers["Sec-Fetch-Site"]?.lowercased()
        if let origin = request.headers["Origin"] {
            if site == "same-origin" || isOwn(origin, request) || isListed(origin, withCookie: withCookie) { return }
        } else {
            switch site {
            case "same-origin", "none": return
            case nil:
                // Whoever is no browser shows neither, and has no user whose cookie it could misuse.
                if isSafe || !withCookie { return }
            default:
                // Following a link reads, and what it reads is not shown to the page that holds the link.
                if isSafe, request.headers["Sec-Fetch-Mode"]?.lowercased() == "navigate" { return }
            }
        }
        throw Challenge.insufficient(nil, "The request comes from a page of another origin.")
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

/// The CORS policy of the present configuration. Cookies of other origins' pages count only where the origin is named.
struct CORSMiddleware: Middleware {
    /// The present rules.
    let rules: @Sendable () -> AccessConfiguration

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        try CORSPolicy(origins: rules().origins).admit(&call, operation: operation)
    }

    func finish(_ headers: inout HTTPFields, for call: Call) {
        let rules = rules()
        CORSPolicy(origins: rules.origins).finish(&headers, for: call)
        guard let origin = call.request.headers["Origin"], rules.origins.contains(origin), !rules.origins.contains("*"),
            !rules.isOpen, rules.cookie != nil
        else { return }
        headers.append("Access-Control-Allow-Credentials", "true")
    }
}
