extension CookieOrigin {
    /// The origin that an `http` or `https` URL stands for; nil for any other text.
    public init?(url: String) {
        guard let marker = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<marker.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let rest = url[marker.upperBound...].prefix { $0 != "?" && $0 != "#" }
        let authority = rest.prefix { $0 != "/" }
        let host =
            authority.hasPrefix("[") ? authority.dropFirst().prefix { $0 != "]" } : authority.prefix { $0 != ":" }
        guard !host.isEmpty, !host.contains("@") else { return nil }
        self.init(host: String(host), path: String(rest[authority.endIndex...]), isSecure: scheme == "https")
    }
}
