package import SessionCore

extension AddressAllowList {
    /// This list, and with it the server of an address, which has to be understandable.
    func adding(_ address: String) -> AddressAllowList {
        guard let server = ServerAddress(address) else { return self }
        return AddressAllowList(entries + [Entry(host: server.host, port: server.effectivePort)])
    }

    /// Reads one `HOST:PORT`, with `[…]` around an IPv6 literal; `*` stands for any host or any port. Nil where the
    /// text has another shape or the port is out of range.
    package static func entry(_ pattern: String) -> Entry? {
        guard let colon = pattern.lastIndex(of: ":") else { return nil }
        guard let host = host(String(pattern[..<colon])) else { return nil }
        let port = pattern[pattern.index(after: colon)...]
        if port == "*" { return Entry(host: host == "*" ? nil : host, port: nil) }
        guard port.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(port),
            (1...65_535).contains(number)
        else { return nil }
        return Entry(host: host == "*" ? nil : host, port: number)
    }

    private static func host(_ text: String) -> String? {
        var host = text
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        let isPlain = host.utf8.allSatisfy {
            $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "@")
        }
        return host.isEmpty || !isPlain ? nil : host
    }
}
