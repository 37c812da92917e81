import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct WaitingRequestsTests {
    @Test func waitingRequestsOfACallerAreLimited() {
        let counts = WaitingRequests()
        for _ in 0..<WaitingRequests.limit { #expect(counts.add("a")) }
        #expect(!counts.add("a"))
        #expect(counts.add("b"))
        counts.remove("a")
        #expect(counts.add("a"))
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
