internal import Foundation
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

    /// A connection that trusts the present certificate of the folder.
    private static func connection(_ url: String, _ folder: ProcessFolder) async throws -> HTTPConnection {
        try await HTTPConnection(url, trusting: folder.path("certificate.pem"))
    }

    @Test func aNewCertificateIsTakenOverWhileRequestsAndStreamsGoOn() async throws {
        let folder = try ProcessFolder()
        try await folder.makeCertificate("first")
        let process = try GatewayProcess([
            "serve", "--config", try folder.write("gateway.yaml", Self.configuration(folder)),
        ])
        let url = try await process.address()
        #expect(url.hasPrefix("https://127.0.0.1:"))
        let first = try await Self.connection(url, folder)
        let made = try await call("POST", url + "/v1/streams", json: Self.nothing, on: first)
        #expect(made.status == 404)
        try await folder.makeCertificate("second")
        process.signal(SIGHUP)
        #expect(await process.log(with: "configuration reloaded") != nil)
        let second = try await Self.connection(url, folder)
        #expect(try await call("GET", url + "/health/live", on: second).status == 200)
        // The first connection stays open with its certificate.
        #expect(try await call("GET", url + "/health/live", on: first).status == 200)
        try folder.write("key.pem", "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----\n")
        process.signal(SIGHUP)
        #expect(await process.log(with: "the old one stays in force") != nil)
        let metrics = try await call("GET", url + "/metrics", on: second)
        #expect(metrics.text.contains("lightstreamer_gateway_last_reload_successful 0\n"))
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
        let connection = try await Self.connection(url, folder)
        #expect(try await call("GET", url + "/health/live", on: connection).status == 200)
        await process.stop()
    }

    private static let nothing = #"{"sources":[{"client":"none"}]}"#
}
