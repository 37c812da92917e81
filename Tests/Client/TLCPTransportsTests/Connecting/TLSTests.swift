internal import NIOSSL
internal import TLCP
internal import Testing

@testable internal import TLCPTransports

@Suite struct TLSTests {
    private static func server(
        wantsClientCertificate: Bool = false,
        certificates: String = TestIdentity.certificate,
        privateKey: String = TestIdentity.privateKey
    ) throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) },
            privateKey: .privateKey(key)
        )
        if wantsClientCertificate {
            configuration.certificateVerification = .noHostnameVerification
            configuration.trustRoots = .certificates(chain)
        }
        return configuration
    }

    private static let script: @Sendable (Int, Peer) async throws -> Void = { _, peer in
        _ = try await peer.request()
        try await peer.respond("200 OK", body: "REQOK\r\n")
    }

    private func end(
        host: String = "localhost",
        trust: TLSSettings.Trust,
        pins: [String] = [],
        identity: TLSSettings.Identity? = nil,
        wantsClientCertificate: Bool = false,
        server tls: TLSConfiguration? = nil,
        _ change: (inout SocketSettings) -> Void = { _ in }
    ) async throws -> TransportEnd? {
        let tls = try tls ?? Self.server(wantsClientCertificate: wantsClientCertificate)
        return try await ScriptedServer.run(tls: tls, script: Self.script) { server in
            var settings = SocketSettings.forTests {
                $0.tls.trust = trust
                $0.tls.identity = identity
            }
            change(&settings)
            let connector = try SocketConnector(settings)
            var order = ConnectionRequest.to(server.port, host: host, isSecure: true)
            order.pins = pins.compactMap { CertificatePin($0) }
            let end = await Opened(connector, order).rest().end
            await connector.shutDown()
            return end
        }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func serverWithATrustedCertificateIsRecognised(host: String) async throws {
        #expect(try await end(host: host, trust: .pem(TestIdentity.certificate)) == .completed)
    }

    @Test func unknownAuthorityIsAFailure() async throws {
        guard case .unreachable = try await end(trust: .system) else { return #expect(Bool(false), "was trusted") }
    }

    @Test func trustAnyAcceptsEveryCertificate() async throws {
        #expect(try await end(trust: .anything) == .completed)
    }

    @Test(arguments: [TestIdentity.sha256Pin, TestIdentity.sha1Pin])
    func pinnedKeyIsAccepted(pin: String) async throws {
        let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        #expect(try await end(trust: .pem(TestIdentity.certificate), pins: [other, pin]) == .completed)
    }

    @Test func otherKeyThanThePinnedOneIsRejectedForGood() async throws {
        let other = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        guard case .identityRejected = try await end(trust: .pem(TestIdentity.certificate), pins: [other]) else {
            return #expect(Bool(false), "the pin was not checked")
        }
    }

    @Test(arguments: [TestAuthority.rootPin, TestAuthority.intermediatePin, TestAuthority.leafPin])
    func pinOfAnyCertificateOfTheVerifiedChainIsAccepted(pin: String) async throws {
        let server = try Self.server(certificates: TestAuthority.chain, privateKey: TestAuthority.privateKey)
        #expect(try await end(trust: .pem(TestAuthority.root), pins: [pin], server: server) == .completed)
    }

    @Test(arguments: [TLSSettings.Trust.pem(TestAuthority.root), .anything])
    func pinOfACertificateOutsideTheVerifiedChainIsRejected(trust: TLSSettings.Trust) async throws {
        let server = try Self.server(certificates: TestAuthority.chain, privateKey: TestAuthority.privateKey)
        let end = try await end(trust: trust, pins: [TestAuthority.strangerPin], server: server)
        guard case .identityRejected = end else {
            return #expect(Bool(false), "the server sent it, but it proves nothing")
        }
    }

    @Test func clientCertificateOfTheSettingsIsShown() async throws {
        let identity = TLSSettings.Identity(
            certificateChain: TestIdentity.certificate,
            privateKey: TestIdentity.privateKey
        )
        let trust = TLSSettings.Trust.pem(TestIdentity.certificate)
        #expect(try await end(trust: trust, identity: identity, wantsClientCertificate: true) == .completed)
    }

    @Test func clientCertificateIsRequestedBeforeTrust() async throws {
        let (kinds, asked) = AsyncStream<String>.makeStream()
        let identity = TLSSettings.Identity(
            certificateChain: TestIdentity.certificate,
            privateKey: TestIdentity.privateKey
        )
        let end = try await end(trust: .pem(TestIdentity.certificate), wantsClientCertificate: true) {
            $0.canAuthenticate = { true }
            $0.authenticate = { challenge in
                switch challenge.kind {
                case .clientCertificate:
                    asked.yield("certificate")
                    challenge.answer(.use(.identity(identity)))
                case .serverTrust(let chain):
                    asked.yield("trust \(chain.count)")
                    challenge.answer(.performDefaultHandling)
                default: challenge.answer(.cancel)
                }
            }
        }
        asked.finish()
        #expect(end == .completed)
        var all: [String] = []
        for await kind in kinds { all.append(kind) }
        #expect(all == ["certificate", "trust 1"])
    }

    @Test func revokedTrustIsAFailure() async throws {
        let end = try await end(trust: .pem(TestIdentity.certificate)) {
            $0.canAuthenticate = { true }
            $0.authenticate = { challenge in
                if case .serverTrust = challenge.kind { challenge.answer(.cancel) }
            }
        }
        #expect(end == .unreachable(reason: "cancelled by the authentication delegate", kind: .unauthorized))
    }

    @Test(arguments: [true, false])
    func serverThatTheSettingsRefuseIsLeftToTheDelegate(isTrusted: Bool) async throws {
        let end = try await end(trust: .system) {
            $0.canAuthenticate = { true }
            $0.authenticate = { challenge in
                guard case .serverTrust = challenge.kind, challenge.previousFailureCount == 1, isTrusted else { return }
                challenge.answer(.use(.trust))
            }
        }
        #expect((end == .completed) == isTrusted)
    }

    @Test func unusableSettingsAreRefusedAtOnce() {
        #expect(throws: TLSSettingsError.self) {
            try SocketConnector(.forTests { $0.tls.trust = .pemFile("/does/not/exist.pem") })
        }
    }
}
