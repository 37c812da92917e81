/// One cookie as RFC 6265 stores it.
public struct Cookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value, as sent.
    public var value: String
    /// The domain without a leading dot, in lower case.
    public var domain: String
    /// Whether only that very host gets the cookie, not its subdomains.
    public var isHostOnly: Bool
    /// The path that requests must lie under.
    public var path: String
    /// Whether only `https` and `wss` requests get the cookie.
    public var isSecure: Bool
    /// Seconds since 1970 at which the cookie expires; nil: with the jar.
    public var expiry: Double?

    /// A cookie for a domain and all that lies under a path.
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
