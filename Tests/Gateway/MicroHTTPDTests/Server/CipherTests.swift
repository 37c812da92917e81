internal import MicroHTTPD
internal import Testing

@Suite struct CipherTests {
    /// Whether a client with these options gets a response from a server with an RSA certificate.
    private func connects(_ options: [String]) throws -> Bool {
        var configuration = DaemonConfiguration()
        configuration.certificate = try TestCertificate(key: ["rsa:2048"]).certificate
        let server = try TestServer(configuration)
        let client = try SecureClient(port: server.port, options: options)
        client.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        return client.readToEnd().hasPrefix("HTTP/1.1 200 ")
    }

    @Test(arguments: [
        ["-tls1_3"], ["-tls1_2"], ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-CHACHA20-POLY1305"],
    ])
    func authenticatedCiphersWithEphemeralKeysAreAccepted(options: [String]) throws {
        #expect(try connects(options))
    }

    @Test(arguments: [
        ["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"], ["-tls1_2", "-cipher", "AES128-GCM-SHA256"],
        ["-tls1_2", "-cipher", "AES256-SHA"], ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-SHA256"],
        ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA"],
    ])
    func staticRSAAndCBCAreRefused(options: [String]) throws {
        #expect(try !connects(options))
    }
}
