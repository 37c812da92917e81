internal import NIOHTTP1

/// A response that asks who is there.
struct HTTPChallenge {
    let status: UInt
    let kind: AuthenticationChallenge.Kind
    let asker: Credentials.Asker
    let host: String
    let port: Int

    /// The question in a response head; nil where there is none, or nobody to answer it.
    init?(_ head: HTTPResponseHead, _ order: ConnectionRequest, _ shared: SocketContext) {
        guard shared.settings.canAuthenticate() else { return nil }
        status = head.status.code
        switch status {
        case 401:
            let schemes = head.headers["www-authenticate"].compactMap { AuthenticationScheme(header: $0) }
            kind = .server(schemes: schemes.map(\.name), realm: schemes.first?.realm)
            asker = .server(Endpoint(order).hostAndPort)
            host = order.host
            port = order.port
        case 407:
            guard let proxy = shared.settings.proxy, !order.isSecure else { return nil }
            let schemes = head.headers["proxy-authenticate"].compactMap { AuthenticationScheme(header: $0) }
            kind = .proxy(schemes: schemes.map(\.name), realm: schemes.first?.realm)
            asker = .proxy
            host = proxy.host
            port = proxy.port
        default: return nil
        }
    }
}
