internal import NIOHTTP1
internal import Synchronization

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The `Authorization` headers from the answers to challenges, for later requests.
final class CredentialStore: Sendable {
    /// The peer that requests authentication (RFC 9110 section 11).
    enum ProtectionSpace: Hashable, Sendable {
        case server(String)
        case proxy
    }

    private let headers: Mutex<[ProtectionSpace: String]>

    init(proxy: ProxySettings?) {
        var headers: [ProtectionSpace: String] = [:]
        if let user = proxy?.user { headers[.proxy] = Self.basic(user: user, password: proxy?.password ?? "") }
        self.headers = Mutex(headers)
    }

    func header(for space: ProtectionSpace) -> String? { headers.withLock { $0[space] } }

    func forget(_ space: ProtectionSpace) { headers.withLock { $0[space] = nil } }

    /// Stores the answer to a challenge; false if it contains no credential for another attempt.
    func take(_ answer: AuthenticationChallenge.Answer, for space: ProtectionSpace) -> Bool {
        switch answer {
        case .use(.password(let user, let password)):
            headers.withLock { $0[space] = Self.basic(user: user, password: password) }
            return true
        case .use(.header(let value)) where value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }):
            headers.withLock { $0[space] = value }
            return true
        case .use, .continueWithoutCredential, .cancel, .performDefaultHandling, .rejectProtectionSpaceAndContinue:
            return false
        }
    }

    private static func basic(user: String, password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}

/// The scheme in a `WWW-Authenticate` or `Proxy-Authenticate` header.
struct AuthenticationScheme: Sendable, Equatable {
    let name: String
    let realm: String?

    /// Parses a header (RFC 9110 section 11.6.1); of several schemes in one header only the first is read.
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

/// A response that requests authentication.
struct HTTPChallenge {
    let status: UInt
    let kind: AuthenticationChallenge.Kind
    let space: CredentialStore.ProtectionSpace
    let host: String
    let port: Int

    /// The challenge in a response head; nil if there is none, or no delegate to answer it.
    init?(_ head: HTTPResponseHead, _ request: ConnectionRequest, _ shared: SocketContext) {
        guard shared.settings.canAuthenticate() else { return nil }
        status = head.status.code
        switch status {
        case 401:
            let schemes = head.headers["www-authenticate"].compactMap { AuthenticationScheme(header: $0) }
            kind = .server(schemes: schemes.map(\.name), realm: schemes.first?.realm)
            space = .server(Endpoint(request).hostAndPort)
            host = request.host
            port = request.port
        case 407:
            guard let proxy = shared.settings.proxy, !request.isSecure else { return nil }
            let schemes = head.headers["proxy-authenticate"].compactMap { AuthenticationScheme(header: $0) }
            kind = .proxy(schemes: schemes.map(\.name), realm: schemes.first?.realm)
            space = .proxy
            host = proxy.host
            port = proxy.port
        default: return nil
        }
    }
}
