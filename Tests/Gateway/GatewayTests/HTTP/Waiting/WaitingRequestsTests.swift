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

    /// Requests that wait on without a client hold no connection, and each address is another caller.
    @Test func waitingRequestsOfAllCallersAreLimited() async throws {
        let fixture = try await AccessFixture { $0.http.connectionLimit = 3 }
        let requests = fixture.services.waiting
        func add(_ number: Int) -> UInt64? { try? requests.add(of: Caller(), counted: "a\(number)") {} }
        let added = (0..<5).map(add)
        #expect(added.map { $0 != nil } == [true, true, true, false, false])
        requests.remove(try #require(added[0]))
        #expect(add(5) != nil && add(6) == nil)
    }

    /// The limit is that of the gateway, and no quota of the caller.
    @Test func aFullGatewayRefusesWaitsAndNothingElse() async throws {
        let fixture = try await AccessFixture { $0.http.connectionLimit = 1 }
        let path = "/v1/subscriptions/\(fixture.makeSubscription(as: AccessFixture.alice))/values"
        let tag = fixture.perform("GET", path, as: AccessFixture.alice).headers["ETag"] ?? ""
        _ = try fixture.services.waiting.add(of: Caller(), counted: nil) {}
        let wait = HTTPField("Prefer", "wait=5")
        let headers = [HTTPField("If-None-Match", tag), wait]
        let poll = fixture.perform("GET", path, as: AccessFixture.alice, "", headers)
        #expect(poll.status == 503 && poll.code == "gateway-full")
        let client = fixture.perform("POST", "/v1/clients", as: AccessFixture.alice, #"{"upstream":"demo"}"#, [wait])
        #expect(client.status == 201 && client.headers["Preference-Applied"] == nil)
    }

    /// A client repeats a request after 429: each repetition made another subscription.
    @Test func aRequestThatHasHadItsEffectIsNotRefusedBecauseOfItsWait() async throws {
        let fixture = try await AccessFixture()
        let name = "key:alice"
        for _ in 0..<WaitingRequests.limit {
            _ = try fixture.services.waiting.add(of: Caller(identity: name), counted: name) {}
        }
        func post(_ path: String, _ body: String) -> Fixture.Outcome {
            fixture.perform("POST", path, as: AccessFixture.alice, body, [HTTPField("Prefer", "wait=5")])
        }
        let client = post("/v1/clients", #"{"upstream":"demo"}"#)
        #expect(client.status == 201 && client.headers["Preference-Applied"] == nil)
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item1"],"fields":["f"]}"#
        let subscription = post("/v1/subscriptions", body)
        #expect(subscription.status == 201 && subscription.headers["Preference-Applied"] == nil)
        let path = "/v1/clients/\(client.json["id"]?.string ?? "")"
        #expect(post(path + "/connect", "").status == 202)
        // Nothing is sent before the wait.
        #expect(post(path + "/messages", #"{"text":"x"}"#).code == "over-quota")
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
