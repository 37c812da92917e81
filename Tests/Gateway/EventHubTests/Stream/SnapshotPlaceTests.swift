internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Snapshots whose events are made when the reader accepts them.
@Suite struct SnapshotPlaceTests {
    private let table = SubscriptionProperties(mode: .merge, items: .group("all"), fields: .list(["x", "y", "z"]))
    private let rows = SubscriptionProperties.portfolio

    private func harness(items: Int, _ change: (inout HubConfiguration) -> Void = { _ in }) -> HubHarness {
        let harness = HubHarness(change)
        harness.addSubscription("s", table)
        harness.publish(.subscribed(itemCount: items, fieldCount: 3, keyPosition: nil, commandPosition: nil))
        for item in 1...items { harness.publish(table.update(["0", "-", "-"], item: item, snapshot: true)) }
        return harness
    }

    /// A stream that has read a few events of its snapshot.
    private func stalled(_ harness: HubHarness, after bytes: Int = 1) throws -> TestStream {
        let stream = try harness.open(StreamRequest(sources: [.subscription("s")]), visits: false)
        stream.limit = bytes
        stream.visitOnce(harness.now)
        stream.limit = 256 << 10
        stream.isBlocked = true
        return stream
    }

    private func finish(_ stream: TestStream, _ harness: HubHarness) throws -> [TestStream.Event] {
        harness.unblock(stream)
        return try stream.events.filter { $0.name == "update" }
    }

    @Test func anUnreadSnapshotCostsAPlaceAndNotItsRows() throws {
        let harness = harness(items: 20_000)
        let streams = try (0..<40).map { _ in try stalled(harness) }
        let sent = streams.reduce(0) { $0 + $1.bytes.count }
        let held = streams.reduce(0) { $0 + $1.subscriber.pending.weight }
        #expect(sent < 40 * 1000)
        #expect(held < 40 * 1000)
        #expect(streams.allSatisfy { $0.subscriber.pending.count == 40_000 })
        #expect(try finish(streams[0], harness).count == 20_000)
    }

    @Test func aSnapshotLargerThanTheWindowIsDelivered() throws {
        let harness = harness(items: 5_000) { $0.windowBytes = 10_000 }
        #expect(try finish(stalled(harness), harness).count == 5_000)
    }

    @Test func updatesTakeThePlaceOfRowsThatAreStillToBeSent() throws {
        let harness = harness(items: 1_000)
        // The `stream` event and the row of the first item.
        let stream = try stalled(harness)
        stream.isBlocked = false
        stream.limit = 1
        while try stream.names.isEmpty { stream.visitOnce(harness.now) }
        stream.limit = 256 << 10
        stream.isBlocked = true
        for number in 1...100 {
            harness.publish(table.update(["\(number)", "-", "-"], item: 1, changed: [1]))
            harness.deliver(table.update(["\(number)", "-", "-"], item: 900, changed: [1]))
        }
        let updates = try finish(stream, harness)
        #expect(updates.count == 1_001)
        let late = updates.filter { $0["itemPos"] == 900 }
        #expect(late.map { $0["fields"] } == [["x": "100", "y": "-", "z": "-"]])
        #expect(late.map { $0["conflated"] } == [101])
        #expect(late.map { $0["snapshot"] } == [true])
        let early = updates.filter { $0["itemPos"] == 1 }
        #expect(early.map { $0["conflated"] } == [nil, 100])
        #expect(early.last?["fields"] == ["x": "100"])
    }

    @Test func aReaderOfASnapshotWithLaterUpdatesResumesAfterThem() throws {
        let harness = harness(items: 1_000)
        let stream = try stalled(harness)
        for number in 1...100 {
            harness.deliver(table.update(["\(number)", "-", "-"], item: 900, changed: [1]))
        }
        #expect(try finish(stream, harness).count == 1_000)
        let last = try stream.events.last
        #expect(last?.name == "end-of-snapshot")
        #expect(last?.sequence == harness.hub.lastID.sequence)
        let resumed = try harness.open(.subscription("s")) { $0.lastEventID = last?.id }
        #expect(try resumed.events.map { $0["resume"] } == ["resumed"])
    }

    @Test func rowsThatAreDeletedBeforeTheyAreSentAreOmitted() throws {
        let harness = HubHarness.with("s", rows)
        harness.publish(rows.subscribed)
        for key in 0..<100 { harness.publish(rows.update(["k\(key)", "ADD", "0"])) }
        let stream = try stalled(harness)
        for key in 50..<100 {
            harness.publish(rows.update(["k\(key)", "UPDATE", "1"], changed: [2, 3]))
            harness.deliver(rows.update(["k\(key)", "DELETE", nil], changed: [2, 3]))
        }
        harness.deliver(rows.update(["k99", "ADD", "2"]))
        let updates = try finish(stream, harness)
        #expect(updates.map { $0["key"]?.string } == (0..<50).map { "k\($0)" } + ["k99"])
        #expect(updates.allSatisfy { $0["command"] == "ADD" })
        #expect(stream.subscriber.pending.weight == 0)
        #expect(stream.subscriber.figures.lag == 0)
    }

    @Test(arguments: [UInt64](0..<60))
    func anySliceOfASnapshotWithUpdatesLeadsToTheSameTable(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let properties = seed % 2 == 0 ? SubscriptionProperties.quotes : rows
        var feed = RandomFeed(properties, seed: seed)
        let harness = HubHarness.with("s", properties)
        for _ in 0..<40 { harness.publish(feed.next()) }
        let stream = try stalled(harness)
        for _ in 0..<300 {
            harness.deliver(feed.next())
            guard Int.random(in: 0..<8, using: &generator) == 0 else { continue }
            stream.isBlocked = false
            stream.limit = Int.random(in: 1..<600, using: &generator)
            stream.visitOnce(harness.now)
            stream.isBlocked = true
        }
        stream.limit = 256 << 10
        _ = try finish(stream, harness)
        let late = try harness.open(.subscription("s"))
        var table = TableReader()
        var expected = TableReader()
        for event in try stream.events { table.apply(event) }
        for event in try late.events { expected.apply(event) }
        #expect(table.rows == expected.rows, "seed \(seed)")
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids == Array(Set(ids)).sorted(), "seed \(seed)")
    }

    @Test func aStreamOfManySubscriptionsJoinsAllOfThem() throws {
        let harness = HubHarness()
        let names = (0..<2_000).map { SubscriptionID("s\($0)") }
        for name in names {
            harness.addSubscription(name)
            harness.publish(SubscriptionProperties.quotes.update(["1", "", ""], snapshot: true), to: name)
        }
        let request = StreamRequest(sources: names.map { .subscription($0) })
        let stream = try harness.open(request, visits: false)
        #expect(stream.subscriber.pending.count == 4_001)
        stream.visit(harness.now)
        #expect(
            try stream.events.filter { $0.name == "update" }.map { $0["subscription"]?.string } == names.map(\.rawValue)
        )
        #expect(stream.subscriber.pending.count == 0)
        #expect(stream.subscriber.pending.weight == 0)
    }

    @Test func removedSourcesTakeTheirSnapshotsWithThem() throws {
        let harness = harness(items: 100)
        harness.addSubscription("other")
        harness.publish(SubscriptionProperties.quotes.update(["1", "", ""], snapshot: true), to: "other")
        let both = StreamRequest(sources: [.subscription("s"), .subscription("other")])
        let stream = try harness.open(both, visits: false)
        stream.isBlocked = true
        try harness.hub.change(stream: stream.subscriber.id, add: [], remove: [.subscription("s")])
        harness.pass()
        // Two `stream` events, a row and its end.
        #expect(stream.subscriber.pending.count == 4)
        #expect(try finish(stream, harness).map { $0["subscription"] } == ["other"])
    }

    @Test func emptiedEntriesOfABlockedStreamAreReclaimed() throws {
        let harness = HubHarness()
        let stream = try {
            harness.addSubscription("s", rows)
            return try harness.open(.subscription("s"))
        }()
        stream.isBlocked = true
        for number in 0..<20_000 {
            harness.publish(rows.update(["k\(number)", "ADD", "0"]))
            harness.publish(rows.update(["k\(number)", "DELETE", nil]))
            if number % 50 == 0 { harness.pass() }
        }
        harness.pass()
        #expect(stream.subscriber.pending.weight < 20_000)
    }
}
