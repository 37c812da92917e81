internal import Glibc
internal import MicroHTTPD

/// Refuses requests for unknown host names while callers need no credentials.
///
/// A web page can point its own name at the gateway's address (DNS rebinding); a browser then lets the page read all
/// responses, since both have the same origin. Such requests carry the page's name in `Host`.
struct KnownHosts: Middleware {
    /// Has the policy in force.
    let access: AccessControl

    func admit(_ call: inout Call, operation: Operation?) throws -> Response? {
        // The responses of open operations are the same for every caller. Probes name the gateway as they reach it.
        guard let operation, operation.authorization != .open, !operation.isHealthCheck else { return nil }
        let policy = access.policy
        // Browsers always send a host; clients of HTTP/1.0 may not.
        guard policy.isOpen, let host = call.request.headers["Host"] else { return nil }
        let name = Self.name(of: host)
        if ListeningAddress.isLoopback(name) { return nil }
        if name.hasSuffix(".localhost") { return nil }
        if policy.configuration.hosts.contains(name) { return nil }
        var problem = Problem(
            .forbidden,
            detail: "The host \"\(name)\" is unknown. The setting http.hosts lists known hosts."
        )
        problem.refusedName = .host(name)
        throw problem
    }

    /// The host of an authority (RFC 3986 section 3.2), without its port, in lower case. The whole authority if its port is
    /// not a number: no host has such a name.
    static func name(of authority: String) -> String {
        let authority = authority.lowercased()
        let bytes = authority.utf8
        var end = bytes.firstIndex(of: UInt8(ascii: ":")) ?? bytes.endIndex
        let isLiteral = bytes.first == UInt8(ascii: "[")
        if isLiteral {
            guard let bracket = bytes.firstIndex(of: UInt8(ascii: "]")) else { return authority }
            end = bytes.index(after: bracket)
        }
        if end != bytes.endIndex, !isPort(bytes[end...]) { return authority }
        var name = bytes[..<end]
        if !isLiteral, name.last == UInt8(ascii: ".") { name.removeLast() }
        return String(Substring(name))
    }

    /// Whether the rest of an authority is a colon with a port, which may be empty.
    private static func isPort(_ rest: Substring.UTF8View) -> Bool {
        guard rest.first == UInt8(ascii: ":"), rest.count <= 6 else { return false }
        for byte in rest.dropFirst() where !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { return false }
        return true
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
