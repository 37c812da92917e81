public import TLCPTransports

extension LightstreamerClient {
    /// The cookies that this client sends with requests and handshakes, and that servers set.
    public var cookieJar: CookieJar { core.cookieJar }

    /// Adds cookies; they count from the next request on, towards servers whose domain they match.
    public func addCookies(_ cookies: [Cookie]) { core.cookieJar.add(cookies) }

    /// The cookies that would be sent to an `http` or `https` URL; nil: all that have not expired. Empty for a text that
    /// is no such URL.
    public func cookies(forURL url: String?) -> [Cookie] {
        guard let url else { return core.cookieJar.all }
        return CookieOrigin(url: url).map(core.cookieJar.cookies(for:)) ?? []
    }
}
