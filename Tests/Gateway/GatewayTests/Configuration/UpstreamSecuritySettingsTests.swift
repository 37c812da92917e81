import LightstreamerClient
import SessionPool
import Testing

@testable import Gateway

@Suite struct UpstreamSecuritySettingsTests {
    static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBdTCCARugAwIBAgIUD7SFTMhhnNZsnRInatjFbnwEkB8wCgYIKoZIzj0EAwIw
        DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjIwNDI3NDFaGA8yMTI2MTAyOTA0Mjc0
        MVowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJI/
        8OQ9ewpJdYHSs28LQwid5JY1ZKtdYwb8iWgN1LBn3CrMrjj4f5+GWoWw7bcGh/9o
        ZL8N6wMh9B0nYGp0g8qjUzBRMB0GA1UdDgQWBBRVLKvqOva0EZ99mJGFPXH73fGk
        ATAfBgNVHSMEGDAWgBRVLKvqOva0EZ99mJGFPXH73fGkATAPBgNVHRMBAf8EBTAD
        AQH/MAoGCCqGSM49BAMCA0gAMEUCIQDLI2EQT2dU4PrpIZYeaKwZm28+AHkxVCm+
        nL1uR0g9hAIgJ7q3t2+1eHnEYnZIBQhnfIuPUT47cTrZEi0OuJXOklU=
        -----END CERTIFICATE-----
        """
    /// The key of `certificate`.
    static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgO9Ng3DWVKDYKHnUz
        u45v3AmzlnEfYOcsllUGXMQ0jKyhRANCAASSP/DkPXsKSXWB0rNvC0MIneSWNWSr
        XWMG/IloDdSwZ9wqzK44+H+fhlqFsO23Bof/aGS/DesDIfQdJ2BqdIPK
        -----END PRIVATE KEY-----
        """
    private static let pin = "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    private static func read(_ settings: [(String, String)]) throws -> UpstreamConfiguration {
        let address = ("upstreams.a.serverAddress", "https://push.example.com")
        let flags = [address] + settings.map { ("upstreams.a.\($0.0)", $0.1) }
        let files = ["/ca": certificate, "/c": certificate + "\n", "/k": key, "/p": "proxy-secret\n"]
        var reader = ConfigurationReader(flags: flags.map { (key: $0.0, value: $0.1) }, readFile: { files[$0] })
        let upstreams = try reader.read().pool.upstreams
        return try #require(upstreams.first)
    }

    private static func mistakes(_ settings: [(String, String)]) -> [String] {
        do {
            _ = try read(settings)
            return []
        } catch {
            return (error as? ConfigurationError)?.mistakes.map { "\($0.key ?? ""): \($0.rule)" } ?? ["\(error)"]
        }
    }

    @Test func certificatesComeFromFiles() throws {
        let upstream = try Self.read([
            ("tls.caFile", "/ca"), ("tls.certificateFile", "/c"), ("tls.keyFile", "/k"), ("tls.pins", Self.pin),
        ])
        #expect(upstream.tls.trust == .pem(Self.certificate))
        #expect(upstream.tls.identity == .init(certificateChain: Self.certificate, privateKey: Self.key))
        #expect(upstream.certificatePins == [Self.pin])
    }

    @Test func theProxyHasCredentials() throws {
        let upstream = try Self.read([
            ("proxy.passwordFile", "/p"), ("proxy.user", "u"), ("proxy.address", "[::1]:3128"),
        ])
        #expect(upstream.proxy == ProxySettings(host: "::1", port: 3128, user: "u", password: "proxy-secret"))
    }

    @Test func httpCredentialsAreRead() throws {
        let upstream = try Self.read([("http.user", "u"), ("http.password", "p")])
        #expect(upstream.httpCredentials == HTTPCredentials(user: "u", password: "p"))
    }

    @Test(arguments: [
        ([("tls.keyFile", "/k")], "upstreams.a.tls.certificate: is required"),
        ([("tls.certificateFile", "/c")], "upstreams.a.tls.key: is required"),
        ([("tls.ca", "nonsense")], "upstreams.a.tls: "),
        ([("tls.certificate", "nonsense"), ("tls.key", "nonsense")], "upstreams.a.tls: "),
        ([("tls.pins", "sha256/x")], "upstreams.a.tls.pins: "),
        ([("proxy.address", "*:1")], "upstreams.a.proxy.address: must be HOST:PORT"),
        ([("proxy.user", "u")], "upstreams.a.proxy.address: is required"),
        ([("http.password", "p")], "upstreams.a.http.user: is required"),
    ])
    func mistakesAreNamed(settings: [(String, String)], expected: String) {
        let mistakes = Self.mistakes(settings)
        #expect(mistakes.contains { $0.hasPrefix(expected) }, "\(mistakes)")
    }
}
