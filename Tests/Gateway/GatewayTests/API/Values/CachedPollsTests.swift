import Changes
import Dispatch
import MicroHTTPD
import SessionCore
import SessionPool
import Synchronization
import Testing

@testable import Gateway

/// Long polls with cursors whose responses caches keep.
@Suite struct CachedPollsTests {
    private static let quote = "/v1/values?upstream=demo&items=a&fields=x"
    private static let layout = SubscriptionLayout(
        itemNames: ["a"],
        fieldNames: ["x"],
        fieldCount: 1,
        keyPosition: nil,
        commandPosition: nil
    )

    /// A reader that polls again at the URL of each response.
    private final class Reader: Sendable {
        private let target: Mutex<String>
        private let isWaiting = Mutex(false)

        init(_ target: String) { self.target = Mutex(target) }

        var next: String { target.withLock(\.self) }

        func poll(_ fixture: AccessFixture) {
            guard !isWaiting.withLock(\.self) else { return }
            isWaiting.withLock { $0 = true }
            let parts = next.split(separator: "?").map(String.init)
            let headers = HTTPFields([HTTPField("Host", "localhost")])
            let request = HTTPRequest(method: "GET", rawPath: parts[0], rawQuery: parts[1], headers: headers)
            if case .respond(let response) = fixture.host.decide(request, later: take) { take(response) }
        }

        private func take(_ response: HTTPResponse) {
            isWaiting.withLock { $0 = false }
            let link = response.headers["Link"] ?? ""
            target.withLock { $0 = String(link.drop { $0 != "/" }.prefix { $0 != ">" }) }
        }
    }

    private func publish(_ event: SubscriptionEvent, to fixture: AccessFixture) {
        let id = fixture.services.pool.resources().last?.id ?? SubscriptionID("")
        fixture.hub.take(.subscription(id, .event(event)))
    }

    private func publish(_ value: Int, to fixture: AccessFixture) {
        let update = ItemUpdate(
            layout: Self.layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["\(value)"],
            changed: FieldSet(all: 1)
        )
        publish(.update(update), to: fixture)
    }

    /// Returns once the background queue has done its work.
    private func settle(_ fixture: AccessFixture) async {
        await withCheckedContinuation { done in
            if !fixture.services.background.medium.add({ done.resume() }) { done.resume() }
        }
    }

    @Test func readersWithCursorsOfDifferentMomentsMeetAtOneURL() async throws {
        let fixture = try await AccessFixture(AccessConfiguration()) { $0.values.maxAge = 1 }
        let readers = (0..<3).map { _ in Reader(Self.quote) }
        readers[0].poll(fixture)
        publish(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil), to: fixture)
        // The value changes every 100 ms; the readers begin 300 ms after each other.
        for step in 0..<40 {
            publish(step, to: fixture)
            await settle(fixture)
            fixture.services.timers.runDue()
            await settle(fixture)
            for (index, reader) in readers.enumerated() where step >= index * 3 { reader.poll(fixture) }
            fixture.time.pass(0.1)
        }
        #expect(readers[0].next.contains("cursor="))
        #expect(readers.map(\.next) == Array(repeating: readers[0].next, count: readers.count))
    }
    /// A number of responses.
    private final class Tally: Sendable {
        private let count = Mutex(0)
        var value: Int { count.withLock(\.self) }
        func add(_ response: HTTPResponse) { count.withLock { $0 += 1 } }
    }

    private func request(_ tag: String? = nil) -> HTTPRequest {
        var headers = HTTPFields([HTTPField("Host", "localhost")])
        if let tag {
            headers.append("If-None-Match", tag)
            headers.append("Prefer", "wait=20")
        }
        let query = Self.quote.split(separator: "?").last.map(String.init)
        return HTTPRequest(method: "GET", rawPath: "/v1/values", rawQuery: query, headers: headers)
    }

    @Test func aChangeEndsTheWaitOfMoreRequestsThanTheBackgroundQueueHolds() async throws {
        let fixture = try await AccessFixture(AccessConfiguration())
        let answered = Tally()
        _ = fixture.host.decide(request(), later: answered.add)
        publish(.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil), to: fixture)
        publish(1, to: fixture)
        await settle(fixture)
        guard case .respond(let present) = fixture.host.decide(request(), later: answered.add) else {
            Issue.record("the values are not there")
            return
        }
        let count = fixture.services.background.medium.capacity + 200
        for _ in 0..<count { _ = fixture.host.decide(request(present.headers["ETag"]), later: answered.add) }
        await settle(fixture)
        #expect(answered.value == 1)
        // The queue is busy while the change is reported.
        let gate = DispatchSemaphore(value: 0)
        #expect(fixture.services.background.medium.add { gate.wait() })
        publish(2, to: fixture)
        gate.signal()
        await settle(fixture)
        #expect(answered.value == 1 + count)
    }
}
