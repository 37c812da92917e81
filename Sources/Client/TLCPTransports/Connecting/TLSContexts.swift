internal import NIOCore
internal import NIOSSL
internal import NIOTLS
internal import Primitives

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The TLS contexts of one client. Each is created once, because its creation loads all certificate authorities.
final class TLSContexts: Sendable {
    /// The number of contexts at which all are discarded: a delegate can answer with any number of identities.
    private static let maxContexts = 8

    private let settings: TLSSettings
    /// By the certificate chain of the client.
    private let contexts: RankedMutex<[String?: NIOSSLContext]>

    /// Contexts for these settings. If `isNeeded`, the default one is created here, so that errors are reported early.
    init(_ settings: TLSSettings, isNeeded: Bool) throws(TLSSettingsError) {
        self.settings = settings
        contexts = RankedMutex([:])
        if isNeeded { _ = try context(identity: nil) }
    }

    var hasIdentity: Bool { settings.identity != nil }

    /// The context with a client certificate: the given one, else the one of the settings.
    func context(identity: TLSSettings.Identity?) throws(TLSSettingsError) -> NIOSSLContext {
        let identity = identity ?? settings.identity
        let chain = identity?.certificateChain
        if let context = contexts.withLock({ $0[chain] }) { return context }
        let context = try make(identity)
        contexts.withLock { contexts in
            if contexts.count >= Self.maxContexts { contexts = [:] }
            contexts[chain] = context
        }
        return context
    }

    private func make(_ identity: TLSSettings.Identity?) throws(TLSSettingsError) -> NIOSSLContext {
        do {
            var configuration = TLSConfiguration.makeClientConfiguration()
            configuration.minimumTLSVersion = .tlsv12
            configuration.applicationProtocols = ["http/1.1"]
            switch settings.trust {
            case .system: configuration.trustRoots = .default
            case .pemFile(let path): configuration.trustRoots = .file(path)
            case .pem(let text):
                configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(text.utf8)))
            case .anything: configuration.certificateVerification = .none
            }
            if let identity {
                let chain = try NIOSSLCertificate.fromPEMBytes(Array(identity.certificateChain.utf8))
                configuration.certificateChain = chain.map { .certificate($0) }
                let key = try NIOSSLPrivateKey(bytes: Array(identity.privateKey.utf8), format: .pem)
                configuration.privateKey = .privateKey(key)
            }
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw TLSSettingsError(reason: "certificates or keys cannot be used: \(error)")
        }
    }
}

/// The certificates of one connection that TLS verified, from the root to the one of the server.
final class VerifiedChain: Sendable {
    private struct State {
        var certificates: [NIOSSLCertificate] = []
        var rejected: NIOSSLCertificate?
    }

    private let state = RankedMutex(State())

    /// The certificates; none if the settings trust anything.
    var certificates: [NIOSSLCertificate] { state.withLock { $0.certificates } }

    /// Why TLS rejected a certificate at a time in seconds since 1970; nil: TLS rejected none. TLS reports the certificate,
    /// but not the reason: one that is valid at that time has an authority that is not trusted.
    func rejection(at now: time_t = time(nil)) -> FailureKind? {
        guard let certificate = state.withLock({ $0.rejected }) else { return nil }
        if certificate.notValidAfter < now { return .certificateExpired }
        return certificate.notValidBefore > now ? .certificateNotYetValid : .certificateAuthority
    }

    /// A TLS handler that records the chain.
    func handler(_ context: NIOSSLContext, serverName: String?) throws -> NIOSSLClientHandler {
        let maker: any HandlerMaking = ReportingHandlerMaker()
        return try maker.handler(context, serverName) { result, certificate in
            self.state.withLock { state in
                switch result {
                case .certificateVerified: state.certificates.append(certificate)
                case .failed: state.rejected = certificate
                }
            }
            return result
        }
    }

    private protocol HandlerMaking {
        func handler(
            _ context: NIOSSLContext,
            _ serverName: String?,
            _ report: @escaping NIOSSLVerificationCallback
        ) throws -> NIOSSLClientHandler
    }

    /// NIOSSL passes the verified chain to a deprecated callback only. The newer callbacks replace the verification and
    /// get the certificates that the server sent. These may include certificates that are not part of the verified
    /// chain, and a pin must not match those.
    private struct ReportingHandlerMaker: HandlerMaking {
        @available(*, deprecated, message: "uses a deprecated callback of NIOSSL")
        func handler(
            _ context: NIOSSLContext,
            _ serverName: String?,
            _ report: @escaping NIOSSLVerificationCallback
        ) throws -> NIOSSLClientHandler {
            try NIOSSLClientHandler(context: context, serverHostname: serverName, verificationCallback: report)
        }
    }
}

/// Completes a promise at the end of the TLS handshake. The dialer then removes this handler.
final class TLSHandshakeGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let done: EventLoopPromise<Void>

    init(done: EventLoopPromise<Void>) { self.done = done }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSUserEvent, case .handshakeCompleted = event { done.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        done.fail(error)
        context.fireErrorCaught(error)
    }

    func handlerRemoved(context: ChannelHandlerContext) { done.fail(DialFailure.closedEarly("TLS handshake")) }

    func channelInactive(context: ChannelHandlerContext) {
        done.fail(DialFailure.closedEarly("TLS handshake"))
        context.fireChannelInactive()
    }
}
