internal import MicroHTTPD

/// Refuses requests for unknown host names while callers need no credentials.
///
/// A web page can point its own name at the gateway's address (DNS rebinding); a browser then lets the page read all
/// responses, since both have the same origin. Such requests carry the page's name in `Host`.
struct KnownHosts: Middleware {
    /// The policy in force.
    let policy: @Sendable () -> AccessPolicy

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        // The responses of open operations are the same for every caller. Probes name the gateway as they reach it.
        guard let operation, operation.authorization != .open, !operation.isHealthCheck else { return nil }
        let policy = policy()
        // Browsers always send a host; clients of HTTP/1.0 may not.
        guard policy.isOpen, let host = call.request.headers["Host"] else { return nil }
        if Self.isLoopbackAddress(host) { return nil }
        let name = Self.name(of: host)
        let isLoopback = ListeningAddress.isLoopback(name) || name.hasSuffix(".localhost")
        if isLoopback || policy.configuration.hosts.contains(name) { return nil }
        throw Problem(.forbidden, detail: "The host \"\(name)\" is unknown. The setting http.hosts lists known hosts.")
    }

    /// Whether an authority is the loopback address of most requests, with a port or none: decided without a copy.
    private static func isLoopbackAddress(_ authority: String) -> Bool {
        let text = "127.0.0.1".utf8
        return authority.utf8.starts(with: text)
            && (authority.utf8.dropFirst(text.count).first.map { $0 == UInt8(ascii: ":") } ?? true)
    }

    /// The host of an authority, without its port, in lower case.
    static func name(of authority: String) -> String {
        let authority = authority.lowercased()
        if authority.utf8.first == UInt8(ascii: "[") {
            let end = authority.utf8.firstIndex(of: UInt8(ascii: "]")).map { authority.utf8.index(after: $0) }
            guard let end, [nil, UInt8(ascii: ":")].contains(authority.utf8[end...].first) else { return authority }
            return String(authority[..<end])
        }
        var name = authority.utf8.prefix { $0 != UInt8(ascii: ":") }
        if name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name))
    }
}
