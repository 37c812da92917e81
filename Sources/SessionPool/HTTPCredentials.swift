package import LightstreamerClient
internal import SessionCore

/// The user and password for HTTP authentication (the Basic scheme) by an upstream server or a gateway in front of it.
package struct HTTPCredentials: Sendable, Equatable {
    /// The user.
    package var user: String
    /// The password. Never shown.
    package var password: String

    /// Credentials from their parts.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }
}

/// Answers challenges of one server with credentials.
final class HTTPAuthenticator: AuthenticationDelegate {
    private let credentials: HTTPCredentials
    private let server: ServerAddress?

    /// Credentials for the server at an address: other servers that the client is sent to do not receive them.
    init(_ credentials: HTTPCredentials, for address: String) {
        self.credentials = credentials
        server = ServerAddress(address)
    }

    func client(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge) {
        challenge.answer(answer(to: challenge))
    }

    func answer(to challenge: AuthenticationChallenge) -> AuthenticationChallenge.Answer {
        guard case .server(let schemes, _) = challenge.kind, challenge.previousFailureCount == 0,
            schemes.contains(where: { $0.lowercased() == "basic" }),
            let server, server.host.lowercased() == challenge.host.lowercased(), server.effectivePort == challenge.port
        else { return .performDefaultHandling }
        return .use(.password(user: credentials.user, password: credentials.password))
    }
}

extension UpstreamConfiguration {
    /// Sets options, certificate pins and HTTP credentials of a new client.
    package func apply(to client: LightstreamerClient) throws(ClientError) {
        try client.connectionOptions.update { $0 = options }
        if !certificatePins.isEmpty { try client.connectionDetails.setCertificatePins(certificatePins) }
        if let httpCredentials { client.addDelegate(HTTPAuthenticator(httpCredentials, for: serverAddress)) }
    }
}
