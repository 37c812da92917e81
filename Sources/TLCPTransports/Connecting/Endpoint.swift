/// Where connections go that may stand in for each other.
struct Endpoint: Hashable, Sendable {
    let host: String
    let port: Int
    let isSecure: Bool
    let pins: [CertificatePin]

    init(_ order: ConnectionRequest) {
        host = order.host
        port = order.port
        isSecure = order.isSecure
        pins = order.pins
    }

    /// The host and, unless it is the scheme's own, the port, as a `Host` header has them.
    var authority: String {
        port == (isSecure ? 443 : 80) ? bracketedHost : "\(bracketedHost):\(port)"
    }

    /// Host and port, as `CONNECT` has them.
    var hostAndPort: String { "\(bracketedHost):\(port)" }

    private var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }
}
