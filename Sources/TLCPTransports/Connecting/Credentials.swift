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
