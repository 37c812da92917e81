import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct TrustedProxiesTests {
    private let proxies = TrustedProxies(
        networks: ["127.0.0.1", "10.0.0.0/8", "fd00::/8"].compactMap { IPNetwork($0) }
    )

    private func client(_ peer: String, _ headers: [(String, String)]) -> String {
        let fields = HTTPFields(headers.map { HTTPField($0.0, $0.1) })
        let request = HTTPRequest(
            method: "GET",
            rawPath: "/",
            headers: fields,
            peer: PeerAddress(host: peer, port: 1)
        )
        return proxies.client(of: request).host
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("6.6.6.6, 192.0.2.1", "192.0.2.1"), ("6.6.6.6, 192.0.2.1, 10.1.1.1", "192.0.2.1"),
        ("192.0.2.1:4711", "192.0.2.1"), ("2001:db8::1", "2001:db8::1"), ("[2001:db8::1]:80", "2001:db8::1"),
        ("10.2.2.2", "10.2.2.2"), ("6.6.6.6, unknown", "unknown"), ("", "unknown"), ("a b", "unknown"),
        ("::ffff:10.1.1.1", "::ffff:10.1.1.1"),
    ])
    func theLastUntrustedAddressIsTheClient(header: String, expected: String) {
        #expect(client("127.0.0.1", [("X-Forwarded-For", header)]) == expected)
    }

    @Test(arguments: [
        (#"for=192.0.2.1;proto=https"#, "192.0.2.1"), (#"For="[2001:db8::1]:80""#, "2001:db8::1"),
        (#"for=6.6.6.6, for=192.0.2.1;by=10.0.0.1, for=10.0.0.2"#, "192.0.2.1"), ("for=_hidden", "unknown"),
        ("proto=https", "unknown"),
    ])
    func forwardedIsReadAsWell(header: String, expected: String) {
        #expect(client("127.0.0.1", [("Forwarded", header)]) == expected)
    }

    @Test func untrustedPeerIsItsOwnClientAddress() {
        #expect(client("192.0.2.9", [("X-Forwarded-For", "6.6.6.6")]) == "192.0.2.9")
        #expect(TrustedProxies(networks: []).contains("127.0.0.1") == false)
    }

    @Test func severalLinesAreOneList() {
        #expect(client("10.1.1.1", [("X-Forwarded-For", "6.6.6.6"), ("X-Forwarded-For", "192.0.2.1")]) == "192.0.2.1")
    }

    /// A proxy that sets one header passes the other one as the client sent it.
    @Test func headersThatContradictEachOtherDoNotCount() {
        #expect(client("10.1.1.1", [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=6.6.6.6")]) == "10.1.1.1")
        #expect(client("10.1.1.1", [("X-Forwarded-For", "192.0.2.1"), ("Forwarded", "for=192.0.2.1")]) == "192.0.2.1")
    }

    @Test func requestsWithoutTheHeadersAreThoseOfTheirPeer() {
        #expect(client("127.0.0.1", []) == "127.0.0.1")
        #expect(client("10.1.1.1", []) == "10.1.1.1")
    }

    /// A gateway that admits one request of a client a second.
    private func limited() async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.limits.rate = 1
        access.limits.burst = 1
        access.trustedProxies = proxies.networks
        return try await AccessFixture(access)
    }

    /// A proxy on this machine that sets one header passes on the other one, by which a client would not be limited at all.
    @Test func clientsBehindALocalProxyAreLimitedWhateverHeadersTheyWrite() async throws {
        let fixture = try await limited()
        func status(_ headers: [HTTPField]) -> Int {
            fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, "", headers).status
        }
        let forged = [HTTPField("X-Forwarded-For", "192.0.2.1"), HTTPField("Forwarded", "for=6.6.6.6")]
        #expect([status(forged), status(forged)] == [200, 429])
        #expect([status([]), status([])] == [200, 200])
    }

    @Test func theRateLimitCountsTheClientBehindTheProxy() async throws {
        let fixture = try await limited()
        func status(_ client: String) -> Int {
            let header = HTTPField("X-Forwarded-For", client)
            return fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, "", [header], peer: "10.0.0.1").status
        }
        #expect(status("192.0.2.1") == 200)
        #expect(status("192.0.2.1") == 429)
        #expect(status("192.0.2.2") == 200)
    }

    @Test(arguments: ["10.0.0.0/33", "10.0.0/8", "x", "", "::1/129", "10.0.0.0/ 8", "10.0.0.0/+8", "10.0.0.0/08"])
    func otherTextIsNoNetwork(text: String) { #expect(IPNetwork(text) == nil) }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::ffff:10.1.1.1", true),
        ("0.0.0.0/0", "192.0.2.1", true), ("0.0.0.0/0", "::1", false), ("192.0.2.128/25", "192.0.2.127", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false), ("::1", "::1", true),
    ])
    func aNetworkHoldsItsAddresses(network: String, host: String, expected: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(host) == expected)
    }

    @Test func connectionsAreLimitedBySubscriber() {
        var configuration = GatewayConfiguration()
        configuration.access.trustedProxies = proxies.networks
        let current = LiveConfiguration(configuration)
        let group = configuration.daemon(following: current).addressGroup
        #expect(group("2001:db8::1") == group("2001:db8::2"))
        #expect(group("2001:db8::1") != group("2001:db8:0:1::1"))
        #expect(group("192.0.2.1") == group("::ffff:192.0.2.1"))
        #expect(group("127.0.0.1") == nil)
        #expect(group("10.1.1.1") == nil)
        configuration.access.limits.countsLoopback = true
        configuration.access.trustedProxies = []
        // A reload had no effect on these limits.
        current.replace(by: configuration)
        #expect(group("127.0.0.1") == "127.0.0.1")
        #expect(group("10.1.1.1") == "10.1.1.1")
        #expect(configuration.http.connectionLimitPerAddress == 1_000)
    }
}
