import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct KnownHostsTests {
    private func status(_ host: String, _ access: AccessConfiguration = .init(), path: String = "/v1/clients")
        async throws -> Int
    {
        let fixture = try await AccessFixture(access)
        let request = HTTPRequest(method: "GET", rawPath: path, headers: [HTTPField("Host", host)])
        switch fixture.host.decide(request, later: { _ in }) {
        case .respond(let response): return response.status
        default: return 0
        }
    }

    @Test(arguments: [
        "localhost", "localhost:8080", "LOCALHOST", "localhost.", "127.0.0.1:8080", "[::1]:8080", "a.localhost",
    ])
    func anOpenGatewayAcceptsLoopbackNames(host: String) async throws {
        #expect(try await status(host) == 200)
    }

    @Test(arguments: [
        "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.1", "[::2]",
        "127.0.0.1:evil.example", "localhost:evil.example", "[::1]:evil.example", "127.0.0.1:80:80",
        "localhost:123456", "", "notlocalhost", "[::1]evil.example", "[::1].evil.example:8080", "[::1",
    ])
    func anOpenGatewayRefusesOtherNames(host: String) async throws {
        #expect(try await status(host) == 403)
    }

    @Test(arguments: ["/health", "/health/live", "/health/ready"])
    func healthChecksAcceptAnyName(path: String) async throws {
        #expect(try await status("gateway.cluster.example", path: path) == 200)
    }

    @Test func theConfigurationAddsNames() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example", "192.0.2.1"]
        #expect(try await status("Gateway.Example:8080", access) == 200)
        #expect(try await status("192.0.2.1", access) == 200)
        #expect(try await status("other.example", access) == 403)
    }

    @Test func pagesThatAreTheSameForEveryoneHaveNoRule() async throws {
        #expect(try await status("pod.internal", path: "/health/live") == 200)
    }

    /// With authentication another page has no credentials.
    @Test func authenticationReplacesTheRule() async throws {
        #expect(try await status("evil.example", AccessFixture.keys()) == 401)
    }
}
