/// What the connections of one client have in common.
package struct SocketSettings: Sendable {
    /// The network threads.
    package var loops: EventLoops
    /// The cookies sent and received.
    package var cookies: CookieJar
    /// How servers are recognised.
    package var tls = TLSSettings()
    /// The proxy; nil: none.
    package var proxy: ProxySettings?
    /// How long each of TCP connection, proxy dialogue, TLS handshake and WebSocket handshake may take.
    package var connectTimeout: Duration = .seconds(10)
    /// The longest line, and the longest WebSocket message, in bytes.
    package var maxLineLength = 64 << 20
    /// How many bytes of one connection may wait to be handled before it is no longer read.
    package var receiveWindow = 1 << 20
    /// Changes requests right before they are sent.
    package var decorate: @Sendable (inout OutgoingRequest) -> Void = { _ in }
    /// Whether somebody answers challenges at present.
    package var canAuthenticate: @Sendable () -> Bool = { false }
    /// Answers a challenge, now or later.
    package var authenticate: @Sendable (AuthenticationChallenge) -> Void = { $0.answer(.performDefaultHandling) }

    /// Settings with the defaults.
    package init(loops: EventLoops, cookies: CookieJar) {
        self.loops = loops
        self.cookies = cookies
    }
}

/// TLS settings that cannot be used.
package struct TLSSettingsError: Error, Equatable {
    /// What is wrong.
    package let reason: String
}
