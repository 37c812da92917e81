internal import Glibc
internal import MicroHTTPD
internal import Primitives

/// Refuses requests from pages of other origins that would use rights which the browser adds by itself: the rights of a
/// cookie or, without authentication, the rights of the machine that the browser runs on.
struct RequestForgery: Sendable {
    /// The origins whose pages may send such requests.
    let origins: [String]

    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS"]

    /// Refuses a request that a page of another site causes.
    ///
    /// - Parameter withCookie: The rights come from a cookie. A request that changes state must then have an origin that the
    ///     list names; `*` does not suffice, since it permits reading and not acting for a user.
    ///   - opensStream: The request opens a stream. A stream subscribes and stays open, so a `GET` of one is checked as a
    ///     request that changes state.
    func check(_ request: HTTPRequest, withCookie: Bool, opensStream: Bool = false) throws(Problem) {
        let isSafe = opensStream ? false : Self.safeMethods.contains(request.method)
        let site = request.headers["Sec-Fetch-Site"]?.lowercased()
        // A page does not see the response, but causes subscriptions by images and frames.
        if isSafe, !withCookie, site != "cross-site" { return }
        if let origin = request.headers["Origin"] {
            if site == "same-origin" || isOwn(origin, request) || isListed(origin, withCookie: withCookie) { return }
        } else {
            switch site {
            case "same-origin", "none": return
            // A client that is not a browser sends neither header.
            case nil where isSafe, nil where !withCookie: return
            case nil: break
            default: if isSafe, Self.followsLink(request, withCookie: withCookie) { return }
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

    /// Whether a request is a navigation, whose result is not visible to the page with the link. Without authentication, the
    /// navigation of a frame does not count: a page may have any number of frames.
    private static func followsLink(_ request: HTTPRequest, withCookie: Bool) -> Bool {
        guard request.headers["Sec-Fetch-Mode"]?.lowercased() == "navigate" else { return false }
        return withCookie || request.headers["Sec-Fetch-Dest"].map { $0.lowercased() == "document" } ?? true
    }

    private func isListed(_ origin: String, withCookie: Bool) -> Bool {
        origins.contains { $0 == origin || (!withCookie && $0 == "*") }
    }

    /// Whether an origin is the gateway's own. Schemes are not compared: behind a proxy that ends TLS they differ. An origin
    /// does not name the default port of its scheme, which a proxy may add to `Host`.
    private func isOwn(_ origin: String, _ request: HTTPRequest) -> Bool {
        guard let host = request.headers["Host"]?.lowercased(), let range = origin.firstRange(of: "://") else {
            return false
        }
        let authority = origin[range.upperBound...].lowercased()
        let port = origin[..<range.lowerBound].lowercased() == "https" ? ":443" : ":80"
        return !authority.isEmpty && (host == authority || host == authority + port)
    }
}

/// CORS (the Fetch standard) for the origins of the configuration in force. Cookies are permitted only to origins that
/// the configuration names, not to those of `*`.
struct CORSMiddleware: ResponseMiddleware {
    let access: AccessControl

    func admit(_ call: inout Call, operation: Operation?) throws {
        guard call.request.method == "OPTIONS", call.request.headers["Access-Control-Request-Method"] != nil,
            let origin = call.request.headers["Origin"], Self.allows(origin, access.policy.configuration.origins)
        else { return }
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
        throw AnsweredRequest(response)
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

/// Refuses requests for unknown host names while callers need no credentials.
///
/// A web page can point its own name at the gateway's address (DNS rebinding); a browser then lets the page read all
/// responses, since both have the same origin. Such requests carry the page's name in `Host`.
struct KnownHosts: Middleware {
    let access: AccessControl

    func admit(_ call: inout Call, operation: Operation?) throws {
        // The responses of open operations are the same for every caller. Probes name the gateway as they reach it.
        guard let operation, operation.authorization != .open, !operation.isHealthCheck else { return }
        let policy = access.policy
        // Browsers always send a host; clients of HTTP/1.0 may not.
        guard policy.isOpen, let host = call.request.headers["Host"] else { return }
        let name = Self.name(of: host)
        if ListeningAddress.isLoopback(name) { return }
        if name.hasSuffix(".localhost") { return }
        if policy.configuration.hosts.contains(name) { return }
        var problem = Problem(
            .forbidden,
            detail: "The host \"\(name)\" is unknown. The setting http.hosts lists known hosts."
        )
        problem.refusedName = .host(name)
        throw problem
    }

    /// The host of an authority (RFC 3986 section 3.2), without its port, in lower case. The port may be
    /// empty. The whole authority if its port is not a number: no host has such a name.
    static func name(of authority: String) -> String {
        let authority = authority.lowercased()
        let bytes = authority.utf8
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let isLiteral = bytes.first == UInt8(ascii: "[")
        if isLiteral {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return authority }
            end = bytes.index(after: bracket)
        }
        if end != bytes.endIndex {
            guard bytes[end] == UInt8(ascii: ":"), bytes[end...].count <= 6 else { return authority }
            for byte in bytes[end...].dropFirst() where !byte.isASCIIDigit {
                return authority
            }
        }
        var name = bytes[..<end]
        if !isLiteral, name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name))
    }

    /// Whether a result of `name(of:)` is a name or address that a host can have.
    static func isName(_ name: String) -> Bool {
        guard name.hasPrefix("["), name.hasSuffix("]") else { return name.isLettersDigits(and: "-._", length: 1...253) }
        return String(name.dropFirst().dropLast()).isLettersDigits(and: ":.", length: 2...45)
    }
}

/// The addresses that the gateway can listen on.
enum ListeningAddress {
    /// Whether an address is a loopback address. Names other than `localhost` are not resolved.
    static func isLoopback(_ host: String) -> Bool {
        if host.utf8.starts(with: "127.".utf8) {
            var address = in_addr()
            return inet_pton(AF_INET, host, &address) == 1
        }
        let host = host.lowercased()
        if host == "localhost" || host == "::1" || host == "[::1]" { return true }
        return host.hasPrefix("::ffff:") && isLoopback(String(host.dropFirst(7)))
    }
}
