import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct WaitingRequestsTests {
    @Test func waitingRequestsOfACallerAreLimited() throws {
        let requests = WaitingRequests()
        func add(_ name: String) -> UInt64? { try? requests.add(of: Caller(), counted: name) {} }
        let first = try #require(add("a"))
        for _ in 1..<WaitingRequests.limit { #expect(add("a") != nil) }
        #expect(add("a") == nil)
        #expect(add("b") != nil)
        requests.remove(first)
        #expect(add("a") != nil)
    }

    @Test func aRequestCountsUntilItsResponse() async throws {
        let fixture = try await AccessFixture()
        let id = fixture.makeSubscription(as: AccessFixture.alice)
        let path = "/v1/subscriptions/\(id)/values"
        let tag = fixture.perform("GET", path, as: AccessFixture.alice).headers["ETag"] ?? ""
        let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=5")]
        for _ in 0..<WaitingRequests.limit {
            #expect(fixture.perform("GET", path, as: AccessFixture.alice, "", headers).isWaiting)
        }
        #expect(fixture.perform("GET", path, as: AccessFixture.alice, "", headers).code == "over-quota")
        #expect(fixture.services.waiting.count == WaitingRequests.limit)
        fixture.services.timers.stop()
        #expect(fixture.services.waiting.count == 0)
        let later = fixture.perform("GET", path, as: AccessFixture.alice, "", headers)
        #expect(later.code == nil)
    }
}
