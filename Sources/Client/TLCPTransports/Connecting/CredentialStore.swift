internal import NIOHTTP1
internal import Primitives

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The credentials for servers and the proxy: configured ones, and those from the answers to challenges.
final class CredentialStore: Sendable {
    /// The peer that requests authentication (RFC 9110 section 11).
    enum ProtectionSpace: Hashable, Sendable {
        case server(String)
        case proxy
    }

    private enum Credential: Equatable {
        case header(String)
        case digest(DigestAuthentication)
    }

    /// How many challenges of a peer are answered in one exchange: the first, and later ones that call the nonce stale.
    private static let maxAnswers = 3

    private let configured: HTTPCredentials?
    private let proxy: HTTPCredentials?
    private let credentials: RankedMutex<[ProtectionSpace: Credential]>

    init(_ configured: HTTPCredentials?, proxy: ProxySettings?) {
        self.configured = configured
        self.proxy = proxy.flatMap { proxy in
            proxy.user.map { HTTPCredentials(user: $0, password: proxy.password ?? "", host: proxy.host) }
        }
        // The proxy gets its credentials without a challenge, which saves a round trip for each connection.
        credentials = RankedMutex(self.proxy.map { [.proxy: .header(Self.basic($0.user, $0.password))] } ?? [:])
    }

    /// The header for a request; nil if there is no credential.
    func header(for space: ProtectionSpace, method: String, target: String) -> String? {
        credentials.withLock { credentials in
            switch credentials[space] {
            case .header(let value): return value
            case .digest(var digest):
                let value = digest.header(method: method, target: target, clientNonce: WebSocketHandshake.makeKey())
                credentials[space] = .digest(digest)
                return value
            case nil: return nil
            }
        }
    }

    func forget(_ space: ProtectionSpace) { credentials.withLock { $0[space] = nil } }

    /// Answers a challenge with the configured credentials; false if there are none for the host, or if the peer has
    /// just rejected them, and not only the nonce of the response. `failures` counts the challenges of this peer in one
    /// exchange.
    func useConfigured(
        for space: ProtectionSpace,
        host: String,
        _ schemes: [AuthenticationScheme],
        failures: Int
    ) -> Bool {
        let mayTry = failures == 0 || (failures < Self.maxAnswers && schemes.contains(where: \.isStale))
        guard mayTry, let configured = space == .proxy ? proxy : configured, configured.applies(to: host),
            let credential = Self.credential(schemes, configured.user, configured.password)
        else { return false }
        return credentials.withLock { credentials in
            defer { credentials[space] = credential }
            return credentials[space] != credential
        }
    }

    /// Stores the answer to a challenge; false if it contains no credential for another attempt.
    func take(
        _ answer: AuthenticationChallenge.Answer,
        for space: ProtectionSpace,
        _ schemes: [AuthenticationScheme]
    ) -> Bool {
        switch answer {
        case .use(.password(let user, let password)):
            let credential = Self.credential(schemes, user, password) ?? .header(Self.basic(user, password))
            credentials.withLock { $0[space] = credential }
            return true
        case .use(.header(let value)) where !value.hasASCIIControls:
            credentials.withLock { $0[space] = .header(value) }
            return true
        case .use, .continueWithoutCredential, .cancel, .performDefaultHandling, .rejectProtectionSpaceAndContinue:
            return false
        }
    }

    /// The credential for the strongest scheme offered; nil if none is supported.
    private static func credential(_ schemes: [AuthenticationScheme], _ user: String, _ password: String) -> Credential?
    {
        if !user.hasASCIIControls, let digest = DigestAuthentication(schemes, user: user, password: password) {
            return .digest(digest)
        }
        return schemes.contains { $0.name.lowercased() == "basic" } ? .header(basic(user, password)) : nil
    }

    private static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

/// A request for authentication.
struct HTTPChallenge {
    let kind: AuthenticationChallenge.Kind
    let space: CredentialStore.ProtectionSpace
    let schemes: [AuthenticationScheme]
    let host: String
    let port: Int
}

extension HTTPChallenge {
    /// The challenge in a response head, of the server (status 401) or of the proxy (407); nil if there is none.
    init?(_ head: HTTPResponseHead, _ request: ConnectionRequest, _ proxy: ProxySettings?) {
        switch head.status.code {
        case 401:
            let schemes = AuthenticationScheme.parse(head.headers["www-authenticate"])
            self.init(
                kind: .server(schemes: schemes.map(\.name), realm: schemes.first?.realm),
                space: .server(Endpoint(request).hostAndPort),
                schemes: schemes,
                host: request.host,
                port: request.port
            )
        case 407:
            // Behind a tunnel it is the server that responds.
            guard let proxy, !request.isSecure, request.kind != .webSocket else { return nil }
            self.init(AuthenticationScheme.parse(head.headers["proxy-authenticate"]), of: proxy)
        default: return nil
        }
    }

    init(_ schemes: [AuthenticationScheme], of proxy: ProxySettings) {
        let kind = AuthenticationChallenge.Kind.proxy(schemes: schemes.map(\.name), realm: schemes.first?.realm)
        self.init(kind: kind, space: .proxy, schemes: schemes, host: proxy.host, port: proxy.port)
    }
}
