/// One cookie as RFC 6265 stores it.
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as sent.
    public var value: String
    /// The domain without a leading dot, in lower case.
    public var domain: String
    /// Whether the cookie is sent to that host only, not to its subdomains.
    public var isHostOnly: Bool
    /// The path prefix of the requests that the cookie is sent with.
    public var path: String
    /// Whether the cookie is sent over TLS only.
    public var isSecure: Bool
    /// The expiry time in seconds since 1970; nil: the cookie expires with the jar.
    public var expiry: Double?

    /// A cookie for a domain and a path prefix.
    public init(
        name: String,
        value: String,
        domain: String,
        path: String = "/",
        isHostOnly: Bool = false,
        isSecure: Bool = false,
        expiry: Double? = nil
    ) {
        self.name = name
        self.value = value
        self.domain = (domain.hasPrefix(".") ? String(domain.dropFirst()) : domain).lowercased()
        self.path = path.hasPrefix("/") ? path : "/"
        self.isHostOnly = isHostOnly
        self.isSecure = isSecure
        self.expiry = expiry
    }
}

/// The properties of a request that determine its cookies.
public struct CookieOrigin: Sendable, Hashable {
    /// The host: a name in lower case, or a literal address without brackets.
    public let host: String
    /// The path of the request, without its query.
    public let path: String
    /// Whether the connection is encrypted.
    public let isSecure: Bool

    /// An origin.
    public init(host: String, path: String, isSecure: Bool) {
        self.host = host.lowercased()
        self.path = path.hasPrefix("/") ? path : "/" + path
        self.isSecure = isSecure
    }
}

extension CookieOrigin {
    /// The origin of an `http` or `https` URL; nil for any other text.
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
