import Changes
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
            if !fixture.services.background.add({ done.resume() }) { done.resume() }
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
}
