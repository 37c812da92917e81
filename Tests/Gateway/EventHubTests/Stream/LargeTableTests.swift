internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Late readers of tables that are large: events that are mostly of different rows stay in the shared log.
@Suite struct LargeTableTests {
    private let table = SubscriptionProperties(mode: .merge, items: .group("all"), fields: .list(["x", "y"]))

    private func harness() -> HubHarness {
        let harness = HubHarness.with("s", table)
        return harness
    }

    private func publishSnapshot(of items: Int, _ harness: HubHarness) {
        harness.publish(.subscribed(itemCount: items, fieldCount: 2, keyPosition: nil, commandPosition: nil))
        for item in 1...items {
            harness.publish(table.update(["0", "text of some length"], item: item, snapshot: true))
            if item % 500 == 0 { harness.pass() }
        }
    }

    @Test func readersThatJoinBeforeTheFirstSnapshotShareItsEvents() throws {
        let harness = harness()
        let streams = try (0..<40).map { _ in try harness.open(.subscription("s")) }
        for stream in streams { stream.isBlocked = true }
        publishSnapshot(of: 20_000, harness)
        #expect(harness.hub.memory.pending < 1_000)
        streams[7].isBlocked = false
        streams[7].visit(harness.now)
        let updates = try streams[7].events.filter { $0.name == "update" }
        #expect(updates.count == 20_000)
        #expect(updates.allSatisfy { $0["conflated"] == nil && $0["snapshot"] == true })
    }

    /// The values of a subscription with rows in another table.
    private func values(of items: Int, at time: Moment) -> ValueTable {
        var values = ValueTable(properties: table)
        values.apply(.subscribed(itemCount: items, fieldCount: 2, keyPosition: nil, commandPosition: nil))
        for item in 1...items {
            values.apply(table.update(["0", "text of some length"], item: item, snapshot: true), at: time)
        }
        return values
    }

    @Test func valuesOfASubscriptionThatNoStreamHasReadAreNotPublishedRowByRow() throws {
        let harness = harness()
        let before = harness.hub.lastID.sequence
        harness.hub.carry("s", by: "c", values(of: 20_000, at: Moment(nanoseconds: 7)))
        #expect(harness.hub.lastID.sequence - before == 2)
        #expect(harness.hub.snapshot(of: "s")?.table.changedAt(item: 20_000) == Moment(nanoseconds: 7))
        let stream = try harness.open(.subscription("s")) { $0.opened = ["s"] }
        harness.deliver(table.update(["1", "text of some length"], item: 3, changed: [1]))
        harness.visitAll()
        let updates = try stream.events.filter { $0.name == "update" }
        #expect(Set(updates.compactMap { $0["itemPos"]?.number?.text }).count == 20_000)
        #expect(updates.last { $0["itemPos"]?.number?.text == "3" }?["fields"]?["x"] == "1")
    }

    @Test func streamThatReadsTheSubscriptionBeforeReceivesItsValues() throws {
        let harness = harness()
        let stream = try harness.open(.subscription("s"))
        harness.hub.carry("s", by: "c", values(of: 2_000, at: .zero))
        harness.pass()
        harness.visitAll()
        let names = try stream.events.map(\.name)
        #expect(names.count { $0 == "subscribed" } == 1)
        #expect(names.count { $0 == "update" } == 2_000)
    }

    @Test func aBlockedReaderHoldsTheLogOfABoundedNumberOfEvents() throws {
        let harness = harness()
        let stream = try harness.open(.subscription("s"))
        stream.isBlocked = true
        publishSnapshot(of: 2_000, harness)
        let logs = harness.hub.memory.logs
        for number in 1...20 {
            for item in 1...2_000 {
                harness.publish(table.update(["\(number)", "text of some length"], item: item, changed: [1]))
                if item % 500 == 0 { harness.pass() }
            }
        }
        #expect(harness.hub.memory.logs < 2 * logs)
        #expect(stream.subscriber.pending.count <= 2_001)
        harness.unblock(stream)
        let last = try stream.events.filter { $0.name == "update" && $0["fields"]?["x"] == "20" }
        #expect(Set(last.compactMap { $0["itemPos"]?.number?.text }).count == 2_000)
    }

    @Test(arguments: [UInt64](0..<20))
    func anyPaceOfAReaderLeadsToTheSameTable(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let harness = harness()
        let stream = try harness.open(.subscription("s"))
        stream.isBlocked = true
        publishSnapshot(of: 500, harness)
        for number in 0..<3_000 {
            let item = Int.random(in: 1...500, using: &generator)
            harness.publish(table.update(["\(number)", "-"], item: item, changed: [1]))
            guard Int.random(in: 0..<20, using: &generator) == 0 else { continue }
            harness.pass()
            stream.isBlocked = false
            stream.limit = Int.random(in: 1..<8_000, using: &generator)
            stream.visitOnce(harness.now)
            stream.isBlocked = true
        }
        harness.pass()
        stream.isBlocked = false
        stream.limit = 256 << 10
        stream.visit(harness.now)
        let late = try harness.open(.subscription("s"))
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids == Array(Set(ids)).sorted(), "seed \(seed)")
        let (table, expected) = try (TableReader(stream.events), TableReader(late.events))
        let numbers = { (reader: TableReader) in reader.rows.mapValues { $0["x"] } }
        #expect(numbers(table) == numbers(expected), "seed \(seed)")
    }
}
