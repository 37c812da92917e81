import MicroHTTPD
import SessionCore
import Testing

@testable import Gateway

@Suite struct IdempotencyStoreTests {
    private let key = IdempotencyStore.Key(caller: nil, path: "/v1/clients", key: "k")

    private func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

    private func word(_ verdict: IdempotencyStore.Decision) -> String {
        switch verdict {
        case .perform: "perform"
        case .replay(let response): "replay \(response.status)"
        case .inProgress: "inProgress"
        case .otherRequest: "otherRequest"
        }
    }

    /// Adds a request that was performed.
    private func add(
        _ store: IdempotencyStore,
        _ key: IdempotencyStore.Key,
        of owner: String = "",
        at now: Moment = .zero,
        size: Int = 0
    ) {
        _ = store.begin(key, of: owner, body: [], now: now)
        store.finished(
            key,
            with: Response(status: 201, mediaType: "text/plain", body: Array(repeating: 0, count: size))
        )
    }

    @Test func aRepeatedRequestGetsTheFirstAnswer() {
        let store = IdempotencyStore()
        #expect(word(store.begin(key, body: [1], now: .zero)) == "perform")
        #expect(word(store.begin(key, body: [1], now: .zero)) == "inProgress")
        store.finished(key, with: Response(status: 201))
        #expect(word(store.begin(key, body: [1], now: .zero)) == "replay 201")
        #expect(word(store.begin(key, body: [2], now: .zero)) == "otherRequest")
    }

    /// Composed letters and combining marks make equal strings of different bytes.
    @Test func keysOfOtherBytesAreOtherRequests() {
        let store = IdempotencyStore()
        let names = ["\u{E9}", "e\u{301}"]
        #expect(names[0] == names[1])
        let keys = names.flatMap { caller in
            names.map { IdempotencyStore.Key(caller: caller, path: "/", key: $0) }
        }
        for key in keys { #expect(word(store.begin(key, body: [], now: .zero)) == "perform") }
        for key in keys { #expect(word(store.begin(key, body: [], now: .zero)) == "inProgress") }
    }

    /// A response may have the id of a session, which nobody else may learn or be given.
    @Test func callersWithoutCredentialsShareNoKeysWithOtherNetworks() throws {
        func key(of caller: Caller, at host: String) throws -> IdempotencyStore.Key {
            let request = HTTPRequest(method: "POST", rawPath: "/mcp", peer: PeerAddress(host: host, port: 0))
            var call = Call(record: CallRecord(request, requestID: "r", since: .zero))
            call.caller = caller
            return try IdempotencyStore.key("k", of: call)
        }
        #expect(try key(of: .anonymous, at: "10.0.0.1") == key(of: .anonymous, at: "10.0.0.1"))
        #expect(try key(of: .anonymous, at: "10.0.0.1") != key(of: .anonymous, at: "10.0.0.2"))
        #expect(try key(of: .unauthenticated, at: "10.0.0.1") == key(of: .unauthenticated, at: "10.0.0.2"))
    }

    @Test func aFailureOfTheGatewayIsNotKept() {
        let store = IdempotencyStore()
        _ = store.begin(key, body: [1], now: .zero)
        store.finished(key, with: Response(status: 503))
        #expect(word(store.begin(key, body: [2], now: .zero)) == "perform")
    }

    @Test func longPathsCountTowardsTheBytes() {
        let store = IdempotencyStore(lifetime: .seconds(10), maxEntries: 1_000, maxBytes: 64 * 1024)
        let path = String(repeating: "p", count: 16 * 1024)
        for number in 0..<10 {
            add(store, .init(caller: nil, path: path, key: "\(number)"))
        }
        #expect(word(store.begin(.init(caller: nil, path: path, key: "0"), body: [], now: .zero)) == "perform")
        #expect(word(store.begin(.init(caller: nil, path: path, key: "9"), body: [], now: .zero)) == "replay 201")
    }

    @Test func oldAnswersAreForgottenByTimeAndByNumber() {
        let store = IdempotencyStore(lifetime: .seconds(10), maxEntries: 2, maxBytes: 1 << 20)
        _ = store.begin(key, body: [], now: .zero)
        store.finished(key, with: Response(status: 201))
        #expect(word(store.begin(key, body: [], now: moment(11))) == "perform")
        store.finished(key, with: Response(status: 201))
        for number in 0..<5 { add(store, .init(caller: nil, path: "/", key: "\(number)"), at: moment(12)) }
        #expect(word(store.begin(key, body: [9], now: moment(12))) == "perform")
    }

    /// The search for each of them among the others took seconds, under the lock of all requests with a key.
    @Test func manyAnswersThatExpireTogetherAreForgottenQuickly() {
        let store = IdempotencyStore(lifetime: .seconds(10))
        for number in 0..<10_000 { add(store, .init(caller: "bob", path: "/", key: "\(number)"), of: "bob") }
        let duration = ContinuousClock().measure {
            #expect(word(store.begin(key, body: [], now: moment(11))) == "perform")
        }
        #expect(duration < .seconds(4))
        let first = IdempotencyStore.Key(caller: "bob", path: "/", key: "0")
        #expect(word(store.begin(first, of: "bob", body: [9], now: moment(11))) == "perform")
    }

    @Test func theOldestAnswerIsDroppedFirstAlsoAfterManyHaveExpired() {
        let store = IdempotencyStore(lifetime: .seconds(1), maxEntries: 3, maxBytes: 1 << 20)
        let keys = (0..<1_002).map { IdempotencyStore.Key(caller: nil, path: "/", key: "\($0)") }
        for (second, key) in keys[..<1_000].enumerated() { add(store, key, at: moment(Int64(second))) }
        for key in keys[1_000...] { add(store, key, at: moment(999)) }
        let words = keys[998...].reversed().map { word(store.begin($0, body: [], now: moment(999))) }
        #expect(words == ["replay 201", "replay 201", "replay 201", "perform"])
    }

    @Test func theAnswersOfTheOldestEndsAreDroppedFirst() {
        let store = IdempotencyStore(lifetime: .seconds(10), maxEntries: 3, maxBytes: 1 << 20)
        let keys = (0..<5).map { IdempotencyStore.Key(caller: nil, path: "/", key: "\($0)") }
        for key in keys[..<3] { _ = store.begin(key, body: [], now: .zero) }
        for index in [2, 0, 1] { store.finished(keys[index], with: Response(status: 201)) }
        for index in [3, 4] { add(store, keys[index]) }
        let kept = [1, 3, 4].map { word(store.begin(keys[$0], body: [], now: .zero)) }
        #expect(kept == ["replay 201", "replay 201", "replay 201"])
        // In the place of the oldest answer.
        add(store, keys[2])
        #expect(word(store.begin(keys[1], body: [], now: .zero)) == "perform")
        #expect(word(store.begin(keys[4], body: [], now: .zero)) == "replay 201")
    }

    @Test(arguments: [400, 401, 403, 413, 415, 422, 429])
    func refusalsOfBodiesAndCredentialsAreNotKept(status: Int) {
        let store = IdempotencyStore()
        _ = store.begin(key, body: [1], now: .zero)
        store.finished(key, with: Response(status: status))
        #expect(word(store.begin(key, body: [2], now: .zero)) == "perform")
    }

    @Test func aRepetitionDuringTheFirstRequestIsToldToComeAgain() {
        let fixture = Fixture()
        let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["b"]}"#
        let headers = ["Idempotency-Key": "k", "Prefer": "wait=1"]
        #expect(fixture.perform("POST", "/v1/subscriptions", body, headers).isWaiting)
        let repetition = fixture.perform("POST", "/v1/subscriptions", body, headers)
        #expect(repetition.status == 409 && repetition.code == "idempotency-conflict")
        #expect(repetition.detail?.hasSuffix("Send the repetition again later.") == true)
    }

    /// The memory of its body counts as long as the responder exists.
    @Test func aRequestThatGoesOnWithoutItsClientRetainsTheResponder() {
        let fixture = Fixture()
        let body = #"{"client":"\#(fixture.makeClient())","mode":"MERGE","items":["a"],"fields":["b"]}"#
        let headers: HTTPFields = [
            HTTPField("Content-Type", "application/json"), HTTPField("Prefer", "wait=300"),
            HTTPField("Idempotency-Key", "k"),
        ]
        let path = "/v1/subscriptions"
        let request = HTTPRequest(method: "POST", rawPath: path, headers: headers, body: Array(body.utf8))
        weak var remaining: HTTPResponder?
        do {
            let responder = HTTPResponder { _ in }
            remaining = responder
            guard case .wait = fixture.host.handle(request, responder) else {
                Issue.record("The request does not wait.")
                return
            }
            responder.abandon()
        }
        #expect(remaining != nil)
        #expect(fixture.services.timers.count == 1)
        fixture.services.timers.stop()
    }

    @Test func requestsInProgressAreNeverDropped() {
        let store = IdempotencyStore(maxEntries: 2, maxBytes: 1 << 20)
        _ = store.begin(key, body: [], now: .zero)
        for number in 0..<5 {
            add(store, .init(caller: nil, path: "/", key: "\(number)"))
            _ = store.begin(.init(caller: nil, path: "/", key: "\(number + 5)"), body: [], now: .zero)
        }
        #expect(word(store.begin(key, body: [], now: .zero)) == "inProgress")
        store.finished(key, with: Response(status: 201))
    }

    /// Requests that wait, 1,000 of one caller: with long targets they took the room of all responses.
    @Test(arguments: [(4, 1 << 20), (1_000, 64 * 1024)])
    func requestsInProgressDropNoResponses(maxEntries: Int, maxBytes: Int) {
        let store = IdempotencyStore(maxEntries: maxEntries, maxBytes: maxBytes)
        add(store, key, of: "alice")
        let path = String(repeating: "p", count: 16 * 1024)
        for number in 0..<40 {
            let key = IdempotencyStore.Key(caller: "bob", path: path, key: "\(number)")
            #expect(word(store.begin(key, of: "bob", body: [], now: .zero)) == "perform")
        }
        #expect(word(store.begin(key, of: "alice", body: [], now: .zero)) == "replay 201")
    }

    @Test(arguments: [(4, 1 << 20), (1_000, 64 * 1024)])
    func aCallerDropsItsOwnResponsesFirst(maxEntries: Int, maxBytes: Int) {
        let store = IdempotencyStore(maxEntries: maxEntries, maxBytes: maxBytes)
        add(store, key, of: "alice")
        for number in 0..<40 {
            add(store, .init(caller: "bob", path: "/", key: "\(number)"), of: "bob", size: 16 * 1024)
        }
        #expect(word(store.begin(key, of: "alice", body: [], now: .zero)) == "replay 201")
        let last = IdempotencyStore.Key(caller: "bob", path: "/", key: "39")
        #expect(word(store.begin(last, of: "bob", body: [], now: .zero)) == "replay 201")
        let first = IdempotencyStore.Key(caller: "bob", path: "/", key: "0")
        #expect(word(store.begin(first, of: "bob", body: [], now: .zero)) == "perform")
    }

    @Test func largeBodiesOfRefusedRequestsDropNothing() async throws {
        let fixture = try await AccessFixture()
        let key = [HTTPField("Idempotency-Key", "k")]
        let body = #"{"upstream":"demo","connect":false}"#
        let first = fixture.perform("POST", "/v1/clients", as: AccessFixture.alice, body, key)
        #expect(first.status == 201)
        let padding = String(repeating: " ", count: 15 * 1024)
        for number in 0..<2_000 {
            let key = [HTTPField("Idempotency-Key", "\(number)")]
            let refused = fixture.perform("POST", "/v1/clients", as: AccessFixture.bob, #"{"x":1\#(padding)}"#, key)
            #expect(refused.status == 422)
        }
        let again = fixture.perform("POST", "/v1/clients", as: AccessFixture.alice, body, key)
        #expect(again.json["id"] == first.json["id"])
    }
}
