internal import NIOCore
internal import NIOSSL

/// The challenges during the opening of a channel.
extension Dialer {
    /// The client certificate of the settings, else the one that the delegate provides.
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
        if case DialFailure.certificate = error { return true }
        return error is NIOSSLError || error is NIOSSLExtraError || error is BoringSSLError
    }

    /// A TLS handler that accepts the certificates of the server only if the delegate trusts them.
    func delegatedTrustHandler(
        _ context: NIOSSLContext,
        _ endpoint: Endpoint,
        _ name: String?,
        _ deadline: StepDeadline
    ) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: name) { certificates, promise in
            let chain = certificates.compactMap { try? $0.toDERBytes() }
            deadline.pause()
            self.ask(.serverTrust(certificates: chain), host: endpoint.host, port: endpoint.port, failures: 1)
                .whenSuccess {
                    deadline.resume()
                    promise.succeed($0 == .use(.trust) ? .certificateVerified : .failed)
                }
        }
    }

    /// Asks the delegate about the certificate that the TLS settings accept, unless the delegate has already decided.
    func reviewTrust(_ channel: any Channel, _ endpoint: Endpoint, isDone: Bool) -> EventLoopFuture<Void> {
        guard !isDone, settings.canAuthenticate() else { return loop.makeSucceededVoidFuture() }
        let certificate: [UInt8]
        do {
            certificate = try channel.pipeline.syncOperations.nioSSL_peerCertificate()?.toDERBytes() ?? []
        } catch {
            return loop.makeFailedFuture(error)
        }
        return ask(.serverTrust(certificates: [certificate]), host: endpoint.host, port: endpoint.port, failures: 0)
            .flatMapThrowing { if $0 == .cancel { throw DialFailure.cancelled } }
    }

    /// Prepares another attempt at the proxy, with the configured credentials or those of the delegate.
    func answer(_ schemes: [AuthenticationScheme], _ failures: Int) -> EventLoopFuture<Void> {
        if let proxy = settings.proxy,
            credentials.useConfigured(for: .proxy, host: proxy.host, schemes, failures: failures)
        {
            return loop.makeSucceededVoidFuture()
        }
        credentials.forget(.proxy)
        guard settings.canAuthenticate(), failures < Self.maxFailures, let proxy = settings.proxy else {
            return loop.makeFailedFuture(DialFailure.proxyRefused(status: 407))
        }
        let kind = AuthenticationChallenge.Kind.proxy(schemes: schemes.map(\.name), realm: schemes.first?.realm)
        return ask(kind, host: proxy.host, port: proxy.port, failures: failures).flatMapThrowing {
            guard self.credentials.take($0, for: .proxy, schemes) else { throw DialFailure.proxyRefused(status: 407) }
        }
    }

    /// Passes a challenge to the delegate; the future is on `loop`.
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
