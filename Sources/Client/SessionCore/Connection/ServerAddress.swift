internal import Primitives

/// The parts of an `http` or `https` address, and the completion of a control link from it.
package struct ServerAddress: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The host: a name, an IPv4 literal, or an IPv6 literal without its brackets.
    package let host: String
    /// The port, where one is written.
    package let port: Int?
    /// The path prefix, as written; empty or beginning with `/`.
    package let path: String

    /// The port that a connection uses.
    package var effectivePort: Int { port ?? (scheme == "https" ? 443 : 80) }

    /// Parses an address; nil if it has another scheme, no host, a bad port, or a query.
    package init?(_ address: String) {
        guard let marker = Self.schemeEnd(address) else { return nil }
        let scheme = address[..<marker].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = address[address.index(marker, offsetBy: 3)...]
        self.init(scheme: scheme, rest: rest)
    }

    private init?(scheme: String, rest: Substring) {
        guard !rest.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }) else {
            return nil
        }
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        guard let (host, port) = Self.authority(rest[..<slash]) else { return nil }
        self.scheme = scheme
        self.host = host
        self.port = port
        path = String(rest[slash...])
    }

    /// Completes the control link of a `CONOK` with the parts that it omits, taken from the address used for
    /// creation: the scheme, and the port if that address has one. The path prefix is not inherited. Nil for an
    /// invalid link.
    package static func completing(controlLink: String, from base: ServerAddress) -> String? {
        let hasScheme = schemeEnd(controlLink) != nil
        // An IPv6 address without brackets is a host without a port.
        let place = controlLink.prefix { $0 != "/" }
        let bare = !hasScheme && !place.hasPrefix("[") && place.filter { $0 == ":" }.count > 1
        let text = bare ? "[\(place)]\(controlLink[place.endIndex...])" : controlLink
        guard let link = ServerAddress(hasScheme ? text : "\(base.scheme)://\(text)") else { return nil }
        let host = link.host.contains(":") ? "[\(link.host)]" : link.host
        let port = (link.port ?? base.port).map { ":\($0)" } ?? ""
        return "\(link.scheme)://\(host)\(port)\(link.path)"
    }

    private static func schemeEnd(_ text: String) -> String.Index? {
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return nil }
        return colon
    }

    private static func authority(_ text: Substring) -> (host: String, port: Int?)? {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]"), !text.contains("@") else { return nil }
            let host = text[text.index(after: text.startIndex)..<end]
            guard host.contains(":"), let port = port(text[text.index(after: end)...]) else { return nil }
            return (String(host), port)
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let host = text[..<colon]
        guard !host.isEmpty, !host.contains("@"), let port = port(text[colon...]) else { return nil }
        return (String(host), port)
    }

    /// Parses the text after the host: `:` and a port, or nothing. Nil for a bad port; the inner nil if there is no
    /// port.
    private static func port(_ text: Substring) -> Int?? {
        if text.isEmpty { return .some(nil) }
        guard text.first == ":", text.dropFirst().hasASCIIDigitsOnly else { return nil }
        guard let port = Int(text.dropFirst()), (1...65535).contains(port) else { return nil }
        return .some(port)
    }
}

/// The hosts and ports that a client may connect to. Names are compared as written, without regard to case, before
/// any name lookup.
package struct AddressAllowList: Sendable, Equatable {
    /// One allowed host and port.
    package struct Entry: Sendable, Hashable {
        /// The host name or literal address without brackets; nil: any host.
        package var host: String?
        /// The port; nil: any port.
        package var port: Int?

        package init(host: String?, port: Int?) {
            self.host = host?.lowercased()
            self.port = port
        }
    }

    /// The entries; an address is allowed if at least one of them matches it.
    package var entries: [Entry]

    package init(_ entries: [Entry]) { self.entries = entries }

    /// Whether an `http` or `https` URL may be connected to; false for an invalid URL.
    package func allows(_ address: String) -> Bool {
        guard let server = ServerAddress(address) else { return false }
        return entries.contains { entry in
            (entry.host ?? server.host.lowercased()) == server.host.lowercased()
                && (entry.port ?? server.effectivePort) == server.effectivePort
        }
    }
}
