import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct RateLimitTests {
    private static let peer = "192.0.2.7"

    private func fixture(rate: Double = 1, burst: Double = 2, loopback: Bool = false) async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.limits.rate = rate
        access.limits.burst = burst
        access.limits.countsLoopback = loopback
        access.keys[1].rights.rate = 3
        return try await AccessFixture(access)
    }

    @Test func tooFrequentRequestsGetRetryAfter() async throws {
        let fixture = try await fixture()
        let first = fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, peer: Self.peer)
        #expect(first.status == 200)
        #expect(first.headers["RateLimit-Policy"] == #""address";q=2;w=2"#)
        #expect(first.headers["RateLimit"] == #""address";r=1;t=1"#)
        _ = fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, peer: Self.peer)
        let third = fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, peer: Self.peer)
        #expect(third.status == 429)
        #expect(third.code == "rate-limited")
        #expect(third.detail == "Too many requests from this address: the limit is 1 a second (limits.rate).")
        #expect(third.headers.values(of: "Retry-After") == ["1"])
        #expect(third.headers["RateLimit"] == #""address";r=0;t=1"#)
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, peer: "192.0.2.8").status == 200)
        fixture.time.pass(1)
        #expect(fixture.perform("GET", "/v1/clients", as: AccessFixture.admin, peer: Self.peer).status == 200)
    }

    /// Attempts with wrong keys count like other requests, and are rejected before the key is checked.
    @Test func attemptsToGuessAreLimited() async throws {
        let fixture = try await fixture()
        let statuses = (0..<4).map { fixture.perform("GET", "/v1/clients", as: "lsg_\($0)", peer: Self.peer).status }
        #expect(statuses == [401, 401, 429, 429])
    }

    @Test func pathsAndMethodsThatDoNotExistCountAsWell() async throws {
        let fixture = try await fixture()
        _ = fixture.perform("GET", "/nothing", peer: Self.peer)
        _ = fixture.perform("BREW", "/v1/clients", peer: Self.peer)
        #expect(fixture.perform("GET", "/nothing", peer: Self.peer).status == 429)
    }

    @Test func aNetworkOfAddressesIsOneCaller() async throws {
        let fixture = try await fixture()
        let statuses = (1...4).map { fixture.perform("GET", "/nothing", peer: "2001:db8::\($0)").status }
        #expect(statuses == [404, 404, 429, 429])
    }

    @Test func thisMachineIsNotLimitedUnlessSaidSo() async throws {
        let free = try await fixture()
        for peer in ["127.0.0.1", "::1"] {
            for _ in 0..<5 { #expect(free.perform("GET", "/nothing", peer: peer).status == 404) }
        }
        let limited = try await fixture(loopback: true)
        #expect((0..<3).map { _ in limited.perform("GET", "/nothing").status } == [404, 404, 429])
    }

    @Test func probesPass() async throws {
        let fixture = try await fixture()
        for _ in 0..<5 { #expect(fixture.perform("GET", "/health/live", peer: Self.peer).status == 200) }
    }

    @Test func rateOfAKeyIsIndependentOfTheAddress() async throws {
        let fixture = try await fixture(rate: 0)
        let statuses = (0..<5).map { number in
            fixture.perform("GET", "/v1/clients", as: AccessFixture.alice, peer: "192.0.2.\(number)").status
        }
        #expect(statuses == [200, 200, 200, 429, 429])
        let other = fixture.perform("GET", "/v1/clients", as: AccessFixture.bob)
        #expect(other.status == 200)
        #expect(other.headers["RateLimit"] == nil)
    }
}
