internal import NIOCore
internal import NIOSSL

/// The questions that stand between a call and its channel.
extension Dialer {
    /// The identity to show: that of the settings, else what the delegate says.
    func identity(for endpoint: Endpoint) -> EventLoopFuture<TLSSettings.Identity?> {
        guard endpoint.isSecure, !contexts.hasIdentity, settings.canAuthenticate() else {
            return loop.makeSucceededFuture(nil)
        }
        return ask(.clientCertificate, host: endpoint.host, port: endpoint.port, failures: 0).flatMapThrowing {
            switch $0 {
            case .use(.identity(let identity)): return identity
            case .cancel: throw DialFailure.cancelled
            default: return nil
            }
        }
    }

    /// Whether an error came from TLS.
    func isTLSFailure(_ error: any Error) -> Bool {
        error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
    }

    /// A TLS handler that leaves the judgement on the server's certificate to the delegate: only its explicit trust counts.
    func askingHandler(_ context: NIOSSLContext, _ endpoint: Endpoint, _ name: String?) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
            let chain = certificates.compactMap { try? $0.toDERBytes() }
            self.ask(.serverTrust(certificates: chain), host: endpoint.host, port: endpoint.port, failures: 1)
                .whenSuccess { promise.succeed($0 == .use(.trust) ? .certificateVerified : .failed) }
        }
    }

    /// Shows the delegate the certificate that the TLS settings have accepted, unless it has decided on it already.
    func reviewTrust(_ channel: any Channel, _ endpoint: Endpoint, isDone: Bool) -> EventLoopFuture<Void> {
        guard endpoint.isSecure, !isDone, settings.canAuthenticate() else { return loop.makeSucceededVoidFuture() }
        let certificate: [UInt8]
        do {
            certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes() ?? []
        } catch {
            return loop.makeFailedFuture(error)
        }
        return ask(.serverTrust(certificates: [certificate]), host: endpoint.host, port: endpoint.port, failures: 0)
            .flatMapThrowing { if $0 == .cancel { throw DialFailure.cancelled } }
    }

    /// Asks who is to be shown to the proxy.
    func answer(_ schemes: [AuthenticationScheme], _ failures: Int) -> EventLoopFuture<Void> {
        credentials.forget(.proxy)
        guard failures < Self.maxFailures, let proxy = settings.proxy else {
            return loop.makeFailedFuture(DialFailure.proxyRefused(status: 407))
        }
        let kind = AuthenticationChallenge.Kind.proxy(schemes: schemes.map(\.name), realm: schemes.first?.realm)
        return ask(kind, host: proxy.host, port: proxy.port, failures: failures).flatMapThrowing {
            guard self.credentials.take($0, for: .proxy) else { throw DialFailure.proxyRefused(status: 407) }
        }
    }

    /// Puts a challenge before the delegate; the future is on `loop`.
    func ask(
        _ kind: AuthenticationChallenge.Kind,
        host: String,
        port: Int,
        failures: Int
    ) -> EventLoopFuture<AuthenticationChallenge.Answer> {
        let promise = loop.makePromise(of: AuthenticationChallenge.Answer.self)
        settings.authenticate(
            AuthenticationChallenge(
                kind: kind,
                host: host,
                port: port,
                previousFailureCount: failures,
                handler: { promise.succeed($0) }
            )
        )
        return promise.futureResult
    }
}
