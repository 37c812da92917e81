internal import NIOHTTP1
internal import Synchronization

/// The `Authorization` headers that challenges were answered with, for the requests that follow.
final class Credentials: Sendable {
    /// Who wants to be shown it.
    enum Asker: Hashable, Sendable {
        case server(String)
        case proxy
    }

    private let headers: Mutex<[Asker: String]>

    init(proxy: ProxySettings?) {
        var headers: [Asker: String] = [:]
        if let user = proxy?.user { headers[.proxy] = Self.basic(user: user, password: proxy?.password ?? "") }
        self.headers = Mutex(headers)
    }

    func header(for asker: Asker) -> String? { headers.withLock { $0[asker] } }

    func forget(_ asker: Asker) { headers.withLock { $0[asker] = nil } }

    /// Takes over the answer to a challenge; false if there is nothing to try again with.
    func take(_ answer: AuthenticationChallenge.Answer, for asker: Asker) -> Bool {
        switch answer {
        case .use(.password(let user, let password)):
            headers.withLock { $0[asker] = Self.basic(user: user, password: password) }
            return true
        case .use(.header(let value)) where value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }):
            headers.withLock { $0[asker] = value }
            return true
        case .use, .continueWithoutCredential, .cancel, .performDefaultHandling, .rejectProtectionSpaceAndContinue:
            return false
        }
    }

    private static func basic(user: String, password: String) -> String {
        "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
    }
}

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
