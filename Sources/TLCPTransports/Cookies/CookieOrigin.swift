/// Where a request goes, as far as cookies are concerned.
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
