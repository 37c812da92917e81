import Changes
import EventHub
import SessionCore
import SessionPool
import Testing

@testable import Gateway

/// One caller does not use up what others need.
@Suite struct SharesTests {
    private static let alice = AccessFixture.alice
    private static let bob = AccessFixture.bob

    @Test func aCallerHasItsShareOfTheDedicatedClients() async throws {
        let fixture = try await AccessFixture { $0.pool.maxDedicatedClients = 8 }
        let clients = (0..<2).map { _ in fixture.makeClient(as: Self.alice) }
        #expect(!clients.contains(""))
        let body = #"{"upstream":"demo","connect":false}"#
        let refused = fixture.perform("POST", "/v1/clients", as: Self.alice, body)
        #expect(refused.status == 429 && refused.code == "over-quota")
        #expect(refused.detail?.hasSuffix("(pool.maxDedicatedClientsPerCaller).") == true)
        #expect(fixture.services.pool.clients().count == 2)
        #expect(!fixture.makeClient(as: Self.bob).isEmpty)
        #expect(fixture.perform("DELETE", "/v1/clients/\(clients[0])", as: Self.alice).status == 204)
    }

    @Test func anAddressWithoutCredentialsHasTheShareOfACaller() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        let fixture = try await AccessFixture(access, maxStreams: 4) {
            ($0.pool.maxDedicatedClients, $0.pool.maxMessageBytes) = (4, 4_096)
        }
        func post(_ path: String, _ body: String, from peer: String) -> Fixture.Outcome {
            fixture.perform("POST", path, as: nil, body, peer: peer)
        }
        func statuses(_ path: String, _ body: String) -> [Int] {
            (["192.0.2.7", "192.0.2.7", "192.0.2.8"]).map { post(path, body, from: $0).status }
        }
        #expect(statuses("/v1/clients", #"{"upstream":"demo","connect":false}"#) == [201, 429, 201])
        let client = post("/v1/clients", #"{"upstream":"demo","connect":false}"#, from: "127.0.0.1")
        let path = client.headers["Location"] ?? ""
        let text = String(repeating: "x", count: 1_000)
        let message = #"{"text":"\#(text)","enqueueWhileDisconnected":true,"outcome":false}"#
        #expect(statuses(path + "/messages", message) == [202, 429, 202])
        #expect(statuses("/v1/streams", #"{"upstream":"demo","items":["a"],"fields":["f"]}"#) == [201, 429, 201])
    }

    @Test func aClientThatEndsLeavesItsPlace() throws {
        let owners = ResourceOwners()
        let caller = Caller(identity: "key:a")
        try owners.note(ClientID("c1"), madeBy: caller, share: 1)
        #expect(throws: Problem.self) { try owners.note(ClientID("c2"), madeBy: caller, share: 1) }
        owners.forget(ClientID("c2"))
        #expect(throws: Problem.self) { try owners.note(ClientID("c2"), madeBy: caller, share: 1) }
        owners.forget(ClientID("c1"))
        try owners.note(ClientID("c2"), madeBy: caller, share: 1)
    }

    @Test func theShareOfDedicatedClientsIsASetting() async throws {
        let fixture = try await AccessFixture { $0.pool.maxDedicatedClientsPerCaller = 1 }
        #expect(!fixture.makeClient(as: Self.alice).isEmpty)
        #expect(fixture.makeClient(as: Self.alice).isEmpty)
    }

    @Test func aCallerHasHalfOfTheMemoryOfMessages() async throws {
        let fixture = try await AccessFixture { $0.pool.maxMessageBytes = 4_096 }
        let text = String(repeating: "x", count: 1_000)
        let body = #"{"text":"\#(text)","enqueueWhileDisconnected":true,"outcome":false}"#
        func send(as key: String) -> Fixture.Outcome {
            fixture.perform("POST", "/v1/clients/\(fixture.makeClient(as: key))/messages", as: key, body)
        }
        #expect(send(as: Self.alice).status == 202)
        let refused = send(as: Self.alice)
        #expect(refused.status == 429 && refused.code == "over-quota")
        #expect(refused.detail?.hasSuffix("have 2048 bytes at most (half of pool.maxMessages).") == true)
        #expect(send(as: Self.bob).status == 202)
        let full = send(as: AccessFixture.admin)
        #expect(full.code == "gateway-full" && full.detail?.hasSuffix("4096 bytes at most (pool.maxMessages).") == true)
        #expect(fixture.services.messages.use(limit: 4_096).used > 2_000)
    }

    @Test func memoryOfAMessageIsFreeWhenItHasEnded() throws {
        let memory = MessageMemory()
        for number in 0..<1_000 {
            let caller = Caller(identity: "key:\(number)")
            var claims = [try memory.claim(1_000, for: caller, limit: 4_000)]
            #expect(throws: Problem.self) { try memory.claim(1_000, for: caller, limit: 4_000) }
            #expect(memory.use(limit: 4_000).used > 1_000)
            claims.removeAll()
            #expect(memory.use(limit: 4_000).used == 0)
        }
    }

    @Test func aCallerHasItsShareOfThePreparedStreams() async throws {
        let fixture = try await AccessFixture(maxStreams: 8)
        let id = fixture.makeSubscription(as: Self.alice)
        let body = #"{"sources":[{"subscription":"\#(id)"}]}"#
        for _ in 0..<2 { #expect(fixture.perform("POST", "/v1/streams", as: Self.alice, body).status == 201) }
        #expect(fixture.perform("POST", "/v1/streams", as: Self.alice, body).status == 429)
        let other = fixture.makeSubscription(as: Self.bob)
        let others = #"{"sources":[{"subscription":"\#(other)"}]}"#
        #expect(fixture.perform("POST", "/v1/streams", as: Self.bob, others).status == 201)
        #expect(fixture.open("GET", "/v1/subscriptions/\(id)/events", as: Self.alice).0.isStream)
    }

    private static func prepare(_ ids: [String], as key: String, _ fixture: AccessFixture) -> (status: Int, id: String)
    {
        let sources = ids.map { #"{"subscription":"\#($0)"}"# }.joined(separator: ",")
        let outcome = fixture.perform("POST", "/v1/streams", as: key, #"{"sources":[\#(sources)]}"#)
        return (outcome.status, outcome.json["id"]?.string ?? "")
    }

    @Test func aCallerHasItsShareOfTheSourcesOfStreams() async throws {
        let fixture = try await AccessFixture { $0.hub.ownerMemoryBytes = 3 * StreamMemory.sourceWeight }
        let ids = (0..<3).map { _ in fixture.makeSubscription(as: Self.alice) }
        let (status, id) = Self.prepare([ids[0], ids[1]], as: Self.alice, fixture)
        #expect(status == 201)
        #expect(Self.prepare([ids[0], ids[1]], as: Self.alice, fixture).status == 429)
        #expect(Self.prepare([ids[0]], as: Self.alice, fixture).status == 201)
        #expect(fixture.hub.memory.sources == 3 * StreamMemory.sourceWeight)
        let addition = #"{"add":[{"subscription":"\#(ids[2])"}]}"#
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.alice, addition).code == "over-quota")
        let path = "/v1/subscriptions/\(ids[0])/events"
        #expect(!fixture.open("GET", path, as: Self.alice).0.isStream)
        #expect(Self.prepare([fixture.makeSubscription(as: Self.bob)], as: Self.bob, fixture).status == 201)
        let removal = #"{"remove":[{"subscription":"\#(ids[0])"}]}"#
        #expect(fixture.perform("PATCH", "/v1/streams/\(id)", as: Self.alice, removal).status == 200)
        #expect(fixture.hub.memory.sources == 3 * StreamMemory.sourceWeight)
        #expect(fixture.open("GET", path, as: Self.alice).0.isStream)
        #expect(fixture.perform("DELETE", "/v1/streams/\(id)", as: Self.alice).status == 204)
        #expect(fixture.hub.memory.sources == 3 * StreamMemory.sourceWeight)
    }

    /// A stream waits from its preparation to its opening, and again after its end.
    @Test func preparedStreamsCountWhileTheyAreNotOpen() {
        let streams = StreamResources()
        func add(_ id: String, prepared: Bool = true, of owner: String? = "key:a") {
            let request = prepared ? StreamRequest(sources: [.subscription("s")]) : nil
            streams.add(id, StreamResources.Entry(prepared: request, madeAt: .zero, owner: owner))
        }
        func counts() -> [Int] { [streams.waiting, streams.waiting(of: "key:a"), streams.waiting(of: "key:b")] }
        add("t1")
        add("t2", of: "key:b")
        add("t3", of: nil)
        add("t4", prepared: false)
        add("t1")
        #expect(counts() == [3, 1, 1])
        _ = streams.change("t1") { $0.isOpen = true }
        #expect(counts() == [2, 0, 1])
        _ = streams.change("t1") { $0.isOpen = false }
        _ = streams.change("t4") { $0.isOpen = true }
        #expect(counts() == [3, 1, 1])
        #expect(streams.delete("t1") != nil)
        #expect(streams.release("t2").removed != nil)
        #expect(counts() == [1, 0, 0])
        _ = streams.change("t3") { $0.isOpen = true }
        #expect(streams.release("t3").removed == nil)
        _ = streams.change("t3") { $0.isOpen = false }
        #expect(streams.remove("t3") != nil && streams.remove("t3") == nil)
        #expect(counts() == [0, 0, 0])
    }

    @Test func namesThatAStreamHasForItselfCountAsSources() throws {
        let memory = StreamMemory(limit: 40 * StreamMemory.sourceWeight)
        let streams = StreamResources(memory: memory)
        let name = String(repeating: "i", count: 10 * StreamMemory.sourceWeight)
        let properties = SubscriptionProperties(mode: .merge, items: .list([name]), fields: .list(["f"]))
        for id in ["t1", "t2"] {
            var entry = StreamResources.Entry(madeAt: .zero, owner: "key:a")
            entry.sourceCount = 1
            entry.joined["s"] = JoinedSubscription(
                id: "s",
                upstream: "demo",
                properties: properties,
                resource: nil,
                isOpened: true
            )
            #expect(streams.add(id, entry))
        }
        #expect(memory.sources == 22 * StreamMemory.sourceWeight)
        #expect(throws: Problem.self) { try streams.checkRoom(for: [.join(upstream: "demo", properties)], of: nil) }
        // A request that only removes sources.
        #expect(throws: Never.self) { try streams.checkRoom(for: [], of: "key:a") }
        _ = streams.remove("t1")
        #expect(memory.sources == 11 * StreamMemory.sourceWeight)
        _ = streams.remove("t2")
        #expect(memory.sources == 0)
    }

    @Test func sourcesHaveHalfOfTheMemoryOfStreams() async throws {
        let fixture = try await AccessFixture { $0.hub.memoryBytes = 4 * StreamMemory.sourceWeight }
        let id = fixture.makeSubscription(as: Self.alice)
        for _ in 0..<2 { #expect(Self.prepare([id], as: Self.alice, fixture).status == 201) }
        #expect(Self.prepare([id], as: Self.alice, fixture).status == 503)
        #expect(fixture.hub.memory.sources == 2 * StreamMemory.sourceWeight)
    }
}
