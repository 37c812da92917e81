internal import Changes
internal import JSONText
internal import Primitives
internal import SessionCore
internal import Testing

@testable import EventHub

/// More events than a loop delivers in time.
@Suite struct FloodTests {
    private let quotes = SubscriptionProperties.quotes

    /// The events that readers receive which are blocked one after the other, while random updates are published, and
    /// return at the end.
    private func eventsOfBlockedReaders(_ count: Int, seed: UInt64) throws -> [[[JSONValue?]]] {
        var random = SplitMix64(seed: seed)
        let harness = HubHarness.with("s", quotes)
        harness.publish(quotes.subscribed)
        let streams = try (0..<count).map { _ in try harness.open(.subscription("s")) }
        for step in 0..<400 {
            for (place, stream) in streams.enumerated() where step == 20 + 50 * place { stream.isBlocked = true }
            for _ in 0..<Int(random.next() % 8) {
                let item = Int(random.next() % 2) + 1
                harness.publish(
                    quotes.update(["\(step)", "\(item)", "-"], item: item, changed: [Int(random.next() % 3) + 1])
                )
            }
            if step == 300 { harness.publish(.endOfSnapshot(itemPos: 1)) }
            harness.pass()
        }
        return try streams.map { stream in
            harness.unblock(stream)
            return try stream.events.dropFirst().map { event in
                [.string(event.name), event.id.map { .string($0) }, event.data]
            }
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func readersThatAreConflatedTogetherReceiveWhatOneAloneReceives(seed: UInt64) throws {
        let alone = try eventsOfBlockedReaders(1, seed: seed)
        let together = try eventsOfBlockedReaders(4, seed: seed)
        #expect(together.first == alone.first)
        for events in together.dropFirst() { #expect(events.last == alone.first?.last) }
    }

    @Test func equalReadersShareOneConflation() throws {
        let harness = HubHarness.with("s", quotes)
        harness.publish(quotes.subscribed)
        let streams = try (0..<3).map { _ in try harness.open(.subscription("s")) }
        for stream in streams { stream.isBlocked = true }
        for number in 0..<500 {
            harness.deliver(quotes.update(["\(number)", "-", "-"], changed: [1]))
        }
        for stream in streams {
            harness.unblock(stream)
            #expect(try stream.events.last?["conflated"] == 500)
            #expect(stream.subscriber.figures.conflated.count == 499)
        }
    }

    /// Bursts above the limit of a broadcast, of which each stream would have to be visited, and is not.
    private func neglected(bursts: Int) throws -> TestStream {
        let harness = HubHarness.with("s", quotes)
        let stream = try harness.open(.subscription("s"))
        stream.isNeglected = true
        let text = String(repeating: "x", count: 400)
        for number in 0..<150 * bursts {
            harness.publish(quotes.update(["\(number)", text, "-"]))
            if number % 150 == 149 { harness.pass() }
        }
        stream.isNeglected = false
        stream.visit(harness.now)
        return stream
    }

    @Test func aLateLoopConflatesNothing() throws {
        let stream = try neglected(bursts: 2)
        #expect(try stream.names.count == 300)
        #expect(stream.subscriber.figures.conflated.count == 0)
    }

    @Test func aLoopThatIsVeryLateConflates() throws {
        let stream = try neglected(bursts: 20)
        #expect(try stream.events.last?["conflated"] == 3000)
    }
}
