internal import Testing

@testable internal import DemoServer

struct RowQueueTests {
    private let row = { (text: String) in FeedRow(values: [text]) }

    private func drain(_ queue: inout RowQueue, at now: Duration) -> [ItemEvent] {
        var events: [ItemEvent] = []
        while case .event(let event) = queue.next(at: now) { events.append(event) }
        return events
    }

    @Test func snapshotIsSentFirstAndNeverDropped() {
        var queue = RowQueue(policy: QueuePolicy(capacity: 1, isUnfiltered: false, interval: .seconds(1)))
        for text in ["a", "b"] { queue.offerSnapshot(.row(row(text))) }
        queue.offerSnapshot(.endOfSnapshot)
        for text in ["c", "d"] { queue.offer(row(text)) }
        #expect(drain(&queue, at: .zero) == [.row(row("a")), .row(row("b")), .endOfSnapshot])
        let early = queue.next(at: .milliseconds(400))
        #expect(early == .notBefore(.seconds(1)))
        #expect(drain(&queue, at: .seconds(1)) == [.row(row("d"))])
        #expect(queue.isEmpty)
    }

    @Test func clearDropsWhatWasNotSentUnlessEverythingIsWanted() {
        for isUnfiltered in [false, true] {
            var queue = RowQueue(policy: QueuePolicy(capacity: 9, isUnfiltered: isUnfiltered, interval: nil))
            queue.offerSnapshot(.endOfSnapshot)
            queue.offer(row("a"))
            queue.offerClear()
            queue.offer(row("b"))
            let kept: [ItemEvent] = isUnfiltered ? [.row(row("a"))] : []
            #expect(drain(&queue, at: .zero) == [.endOfSnapshot] + kept + [.cleared, .row(row("b"))])
        }
    }
}
