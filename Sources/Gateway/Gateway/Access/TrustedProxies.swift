internal import MicroHTTPD

/// Finds the client address of requests that a trusted proxy forwards (RFC 7239, and `X-Forwarded-For`).
///
/// The headers count only in requests from the configured addresses: any other client could write them itself.
struct TrustedProxies: Sendable {
    let networks: [IPNetwork]

    func contains(_ host: String) -> Bool { networks.contains { $0.contains(host) } }

    /// The address of the client that a request comes from: the last one in the chain of forwarders that is not a
    /// trusted proxy. The peer's own address without the headers; that of the proxy, or `unknown`, if they are malformed or
    /// contradict each other.
    func client(of request: HTTPRequest) -> PeerAddress {
        guard contains(request.peer.host) else { return request.peer }
        let forwarded = request.headers.values(of: "Forwarded").flatMap { Self.nodes(ofForwarded: $0) }
        let listed = request.headers.values(of: "X-Forwarded-For").flatMap {
            Self.elements(of: $0[...], at: UInt8(ascii: ","))
        }
        .map { Self.host(of: $0) }
        // A proxy that sets one header may pass on the other one as the client sent it.
        if !forwarded.isEmpty, !listed.isEmpty, forwarded != listed { return Self.undetermined(request.peer) }
        var client = request.peer.host
        for host in (forwarded.isEmpty ? listed : forwarded).reversed() {
            guard contains(client) else { break }
            guard let host, IPNetwork(host) != nil else { return Self.undetermined(request.peer) }
            client = host
        }
        return client == request.peer.host ? request.peer : PeerAddress(host: client, port: 0)
    }

    /// The address of a client that the headers of its proxy do not tell: that of the proxy. Requests of this machine have fewer
    /// limits, so that the clients of a proxy on it share a name instead (RFC 7239 section 6.2).
    private static func undetermined(_ proxy: PeerAddress) -> PeerAddress {
        ListeningAddress.isLoopback(proxy.host) ? PeerAddress(host: "unknown", port: 0) : proxy
    }

    // Bytes are compared, not characters: whoever sends a request chooses the length of its headers, which are read before its
    // credentials.

    private static func nodes(ofForwarded value: String) -> [String?] {
        elements(of: value[...], at: UInt8(ascii: ",")).map { element in
            for pair in elements(of: element, at: UInt8(ascii: ";")) {
                guard let equals = pair.utf8.firstIndex(of: UInt8(ascii: "=")), pair[..<equals].lowercased() == "for"
                else { continue }
                let node = pair[pair.utf8.index(after: equals)...]
                if !node.isEmpty { return host(of: unquoted(node)) }
            }
            return nil
        }
    }

    private static func elements(of value: Substring, at separator: UInt8) -> [Substring] {
        value.utf8.split(separator: separator, omittingEmptySubsequences: false).map { Substring($0).trimmed }
    }

    private static func unquoted(_ text: Substring) -> Substring {
        text.utf8.contains(UInt8(ascii: "\"")) ? text.filter { $0 != "\"" }[...] : text
    }

    /// The host of a node: an IPv4 address or an IPv6 address in brackets, each with an optional port, or an IPv6
    /// address without brackets and port; nil for names such as `unknown`.
    private static func host(of node: Substring) -> String? {
        let bytes = node.utf8
        if bytes.first == UInt8(ascii: "[") {
            return bytes.firstIndex(of: UInt8(ascii: "]")).map {
                String(node[bytes.index(after: bytes.startIndex)..<$0])
            }
        }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let host = parts.count == 2 ? String(Substring(parts[0])) : String(node)
        return host.isEmpty ? nil : host
    }
}
