internal import TLCP
internal import Testing

@testable internal import DemoServer

struct CommandQueueTests {
    private func row(_ key: String, _ kind: RowCommand.Kind, _ value: String = "") -> FeedRow {
        FeedRow(values: [value], command: RowCommand(key: UpstreamName(key), kind: kind))
    }

    private func drain(_ queue: inout CommandQueue, at now: Duration) -> [ItemEvent] {
        var events: [ItemEvent] = []
        while case .event(let event) = queue.next(at: now) { events.append(event) }
        return events
    }

    @Test func updatesOfAKeyMergeIntoWhatWaits() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 100, isUnfiltered: false, interval: nil))
        queue.offer(row("a", .add, "1"))
        queue.offer(row("b", .update, "1"))
        queue.offer(row("a", .update, "2"))
        queue.offer(row("b", .update, "2"))
        queue.offer(row("b", .delete, "3"))
        queue.offer(row("a", .delete, "3"))
        queue.offer(row("a", .add, "4"))
        #expect(
            drain(&queue, at: .zero) == [
                .row(row("a", .add, "2")), .row(row("b", .delete, "3")), .row(row("a", .delete, "3")),
                .row(row("a", .add, "4")),
            ]
        )
    }

    @Test func keysWithOtherBytesDoNotMerge() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 100, isUnfiltered: false, interval: nil))
        queue.offer(row("\u{E9}", .update, "1"))
        queue.offer(row("e\u{301}", .update, "2"))
        let events = drain(&queue, at: .zero)
        #expect(events.count == 2)
    }

    @Test func nothingMergesOverTheEndOfTheSnapshot() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 100, isUnfiltered: false, interval: nil))
        queue.offerSnapshot(.row(row("a", .add, "1")))
        queue.offerSnapshot(.endOfSnapshot)
        queue.offer(row("a", .update, "2"))
        #expect(drain(&queue, at: .zero) == [.row(row("a", .add, "1")), .endOfSnapshot, .row(row("a", .update, "2"))])
    }

    @Test func updatesOfTheSnapshotAreNotDelayedBeyondItsEnd() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 100, isUnfiltered: false, interval: .seconds(1)))
        let snapshot = [ItemEvent.row(row("a", .add, "1")), .row(row("a", .update, "2")), .endOfSnapshot]
        for event in snapshot { queue.offerSnapshot(event) }
        queue.offer(row("a", .update, "3"))
        #expect(drain(&queue, at: .zero) == snapshot)
        let next = queue.next(at: .zero)
        #expect(next == .notBefore(.seconds(1)))
        #expect(drain(&queue, at: .seconds(1)) == [.row(row("a", .update, "3"))])
    }

    @Test func deletionReplacesAnUpdateThatWaitsForItsTurn() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 100, isUnfiltered: false, interval: .seconds(1)))
        queue.offer(row("a", .add, "1"))
        #expect(drain(&queue, at: .zero) == [.row(row("a", .add, "1"))])
        queue.offer(row("a", .update, "2"))
        queue.offer(row("b", .add, "2"))
        #expect(drain(&queue, at: .zero) == [.row(row("b", .add, "2"))])
        let early = queue.next(at: .zero)
        #expect(early == .notBefore(.seconds(1)))
        queue.offer(row("a", .delete))
        #expect(drain(&queue, at: .zero) == [.row(row("a", .delete))])
        #expect(queue.isEmpty)
    }

    @Test(arguments: [false, true])
    func snapshotIsNotDroppedForWhatIsBehindIt(isUnfiltered: Bool) {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 16, isUnfiltered: isUnfiltered, interval: nil))
        let snapshot = (1...20).map { ItemEvent.row(row("s\($0)", .add)) } + [.endOfSnapshot]
        for event in snapshot { queue.offerSnapshot(event) }
        for number in 1...18 { queue.offer(row("a\(number)", .add)) }
        let events = drain(&queue, at: .zero)
        #expect(Array(events.prefix(21)) == snapshot)
        #expect(events.dropFirst(21).first == .lost(2))
        #expect(Array(events.dropFirst(22)) == (3...18).map { ItemEvent.row(row("a\($0)", .add)) })
    }

    @Test func afterAClearTheBoundCountsFromTheEndOfTheSnapshot() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 16, isUnfiltered: false, interval: nil))
        for number in 1...20 { queue.offerSnapshot(.row(row("s\(number)", .add))) }
        queue.offerSnapshot(.endOfSnapshot)
        queue.offerClear()
        for number in 1...17 { queue.offer(row("a\(number)", .add)) }
        let events = drain(&queue, at: .zero)
        #expect(Array(events.prefix(3)) == [.endOfSnapshot, .lost(2), .cleared])
        #expect(Array(events.dropFirst(3)) == (3...17).map { ItemEvent.row(row("a\($0)", .add)) })
    }

    @Test func unfilteredTableDropsTheOldestAndReportsIt() {
        var queue = CommandQueue(policy: QueuePolicy(capacity: 16, isUnfiltered: true, interval: nil))
        for number in 1...18 { queue.offer(row("a", .update, "\(number)")) }
        let events = drain(&queue, at: .zero)
        #expect(events.first == .lost(2))
        #expect(events.count == 17 && events.last == .row(row("a", .update, "18")))
    }
}
