/// A scheme that a `WWW-Authenticate` or `Proxy-Authenticate` header offers.
struct AuthenticationScheme: Sendable, Equatable {
    let name: String
    let realm: String?

    /// Reads one header that offers one scheme (RFC 9110 section 11.6.1); of a list of schemes in one header only the
    /// first is seen.
    init?(header: String) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard let name = parts.first, !name.isEmpty else { return nil }
        self.name = String(name)
        realm = parts.count > 1 ? Self.realm(in: parts[1]) : nil
    }

    private static func realm(in parameters: Substring) -> String? {
        guard let marker = parameters.lowercased().firstRange(of: "realm=\"") else { return nil }
        let offset = parameters.lowercased().distance(from: parameters.lowercased().startIndex, to: marker.upperBound)
        return String(parameters.dropFirst(offset).prefix { $0 != "\"" })
    }
}
