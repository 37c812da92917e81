internal import AsyncHTTPClient
internal import Foundation
internal import NIOSSL
internal import Testing

/// The program with a certificate.
@Suite struct SecureServingTests {
    private static func configuration(_ folder: ProcessFolder) -> String {
        """
        http:
          port: 0
          tls: {certificateFile: "\(folder.path("certificate.pem"))", keyFile: "\(folder.path("key.pem"))"}
        """
    }

    /// A client that trusts the present certificate of the folder.
    private static func client(_ folder: ProcessFolder) throws -> HTTPClient {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .file(folder.path("certificate.pem"))
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: .init(tlsConfiguration: tls))
    }

    @Test func aNewCertificateIsTakenOverWhileRequestsAndStreamsGoOn() async throws {
        let folder = try ProcessFolder()
        try await folder.makeCertificate("first")
        let process = try GatewayProcess([
            "serve", "--config", try folder.write("gateway.yaml", Self.configuration(folder)),
        ])
        let url = try await process.address()
        #expect(url.hasPrefix("https://127.0.0.1:"))
        let first = try Self.client(folder)
        let made = try await call("POST", url + "/v1/streams", json: Self.nothing, client: first)
        #expect(made.status == 404)
        try await folder.makeCertificate("second")
        process.signal(SIGHUP)
        #expect(await process.log(with: "configuration reloaded") != nil)
        let second = try Self.client(folder)
        #expect(try await call("GET", url + "/health/live", client: second).status == 200)
        // The first connection stays open with its certificate.
        #expect(try await call("GET", url + "/health/live", client: first).status == 200)
        try folder.write("key.pem", "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")
        process.signal(SIGHUP)
        #expect(await process.log(with: "the old one stays in force") != nil)
        #expect(try await call("GET", url + "/health/live", client: second).status == 200)
        try await first.shutdown()
        try await second.shutdown()
        process.signal(SIGTERM)
        #expect(await process.ended() == 0)
    }

    @Test func theDemoPrintsASecureAddress() async throws {
        let folder = try ProcessFolder()
        try await folder.makeCertificate("first")
        let process = try GatewayProcess([
            "demo", "--port", "0", "--demo-port", "0", "--config",
            try folder.write("gateway.yaml", Self.configuration(folder)),
        ])
        let url = try await process.demoAddresses().gateway
        #expect(url.hasPrefix("https://127.0.0.1:"))
        let client = try Self.client(folder)
        #expect(try await call("GET", url + "/health/live", client: client).status == 200)
        try await client.shutdown()
        await process.stop()
    }

    private static let nothing = #"{"sources":[{"client":"none"}]}"#
}
