/// An HTTP proxy that all connections of a client go through.
public struct ProxySettings: Sendable, Equatable {
    /// The proxy's host name or literal address.
    public var host: String
    /// The proxy's port.
    public var port: Int
    /// The user for Basic authentication; nil: none, or asked by challenge.
    public var user: String?
    /// The password that goes with the user. Never logged.
    public var password: String?

    /// A proxy. `https` and WebSocket connections use `CONNECT`, plain HTTP requests the absolute form.
    public init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password
    }
}
