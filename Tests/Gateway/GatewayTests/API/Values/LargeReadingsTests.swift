import Changes
import Dispatch
import JSONText
import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

/// `GET /v1/values` of an item with many keys: a background queue writes the response.
@Suite struct LargeReadingsTests {
    private static let target = "/v1/values?mode=COMMAND&items=a&fields=key,command,x"
    private static let layout = SubscriptionLayout(
        itemNames: ["a"],
        fieldNames: ["key", "command", "x"],
        fieldCount: 3,
        keyPosition: 1,
        commandPosition: 2
    )

    private let fixture = Fixture()

    private func publish(_ event: SubscriptionEvent) throws {
        let id = try #require(fixture.services.pool.resources().last?.id)
        fixture.hub.take(.subscription(id, .event(event)))
    }

    private func add(_ keys: Range<Int>, _ text: String = "7") throws {
        for key in keys {
            let values = ["k\(key)", "ADD", text]
            let update = ItemUpdate(
                layout: Self.layout,
                itemPos: 1,
                isSnapshot: true,
                values: values,
                changed: FieldSet(all: 3)
            )
            try publish(.update(update))
        }
    }

    /// Joins the subscription, whose item gets some keys.
    private func subscribe(keys: Range<Int>) async throws {
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        #expect(fixture.perform("GET", Self.target) { source.yield($0) }.isWaiting)
        try publish(.subscribed(itemCount: 1, fieldCount: 3, keyPosition: 1, commandPosition: 2))
        try add(keys)
        try publish(.endOfSnapshot(itemPos: 1))
        for await response in responses {
            #expect(response.status == 200)
            return
        }
    }

    /// The number of keys in the response to a request that is made while a background queue is busy.
    private func keysBehindOtherWork(
        on queue: KeyPath<BackgroundQueues, BackgroundQueue> = \.large,
        headers: [String: String] = [:]
    ) async -> Int? {
        let gate = DispatchSemaphore(value: 0)
        #expect(fixture.services.background[keyPath: queue].add { gate.wait() })
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let outcome = fixture.perform("GET", Self.target, "", headers) { source.yield($0) }
        #expect(outcome.isWaiting)
        gate.signal()
        guard outcome.isWaiting else { return nil }
        for await response in responses {
            return Fixture.outcome(response).json["items"]?.array?.first?["keys"]?.object?.count
        }
        return nil
    }

    @Test(arguments: [[:], ["Prefer": "wait=0"]])
    func manyKeysAreWrittenOnTheBackgroundQueue(headers: [String: String]) async throws {
        try await subscribe(keys: 0..<20_000)
        #expect(await keysBehindOtherWork(headers: headers) == 20_000)
    }

    /// Sixty simultaneous requests for 50,000 values delayed others by half a second.
    @Test func aThousandKeysAreWrittenOnAQueueThatDoesNotWaitForLargeWork() async throws {
        try await subscribe(keys: 0..<1_000)
        let gate = DispatchSemaphore(value: 0)
        #expect(fixture.services.background.large.add { gate.wait() })
        #expect(await keysBehindOtherWork(on: \.medium) == 1_000)
        gate.signal()
    }

    @Test func manyKeysAreWrittenOnTheBackgroundQueueAfterAnEqualRequestForFew() async throws {
        try await subscribe(keys: 0..<1)
        #expect(fixture.perform("GET", Self.target).status == 200)
        #expect(!fixture.services.recentReadings.isEmpty)
        try add(1..<20_000)
        #expect(await keysBehindOtherWork() == 20_000)
    }

    @Test func aLongTextIsWrittenOnTheBackgroundQueue() async throws {
        try await subscribe(keys: 0..<1)
        try add(1..<2, String(repeating: "x", count: 2 << 20))
        #expect(await keysBehindOtherWork() == 2)
    }

    /// Fills the background queue until the returned gate is opened.
    private func fillBackgroundQueue() -> DispatchSemaphore {
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isAdded = fixture.services.background.large.add {
            begun.signal()
            gate.wait()
        }
        #expect(isAdded)
        begun.wait()
        for caller in ["a", "127.0.0.1"] { while fixture.services.background.large.add(for: caller, {}) {} }
        return gate
    }

    @Test func aFullBackgroundQueueIsReported() async throws {
        try await subscribe(keys: 0..<20_000)
        let gate = fillBackgroundQueue()
        #expect(fixture.perform("GET", Self.target).code == "gateway-full")
        gate.signal()
    }

    /// Requests were told that others were too many.
    @Test func aStoppedBackgroundQueueIsReported() async throws {
        try await subscribe(keys: 0..<20_000)
        fixture.services.background.stop()
        let response = fixture.perform("GET", Self.target)
        #expect(response.status == 503)
        #expect(response.code == "unavailable")
    }
}
