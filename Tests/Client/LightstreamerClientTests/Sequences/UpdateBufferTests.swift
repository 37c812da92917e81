internal import SessionCore
internal import Testing

@testable internal import LightstreamerClient

@Suite struct UpdateBufferTests {
    private static let layout = SubscriptionLayout(
        itemNames: ["a", "b"],
        fieldNames: ["key", "command", "x", "y"],
        fieldCount: 4,
        keyPosition: 1,
        commandPosition: 2
    )
    private static let plain = SubscriptionLayout(itemNames: ["a", "b"], fieldNames: ["x", "y"], fieldCount: 2)

    private static func row(_ item: Int, _ x: String, changed: Int..., isSnapshot: Bool = false) -> SubscriptionEvent {
        var set = FieldSet()
        for position in changed { set.insert(position) }
        return .update(
            ItemUpdate(layout: plain, itemPos: item, isSnapshot: isSnapshot, values: [x, "y"], changed: set)
        )
    }

    /// An update of a key; `isFirst`: the key was not there, so that its field changes.
    private static func row(
        _ key: String,
        _ command: String,
        _ x: String? = nil,
        isFirst: Bool = false
    ) -> SubscriptionEvent {
        var changed = FieldSet(all: 4)
        if command != "ADD", !isFirst { changed.remove(1) }
        let values = [key, command, x, nil]
        return .update(
            ItemUpdate(layout: layout, itemPos: 1, isSnapshot: false, values: values, changed: changed)
        )
    }

    private static let subscribed = SubscriptionEvent.subscribed(
        itemCount: 2,
        fieldCount: 2,
        keyPosition: nil,
        commandPosition: nil
    )

    private func put(_ events: SubscriptionEvent..., into buffer: inout UpdateBuffer) -> [Bool] {
        events.map { buffer.put($0) }
    }

    private func taken(_ buffer: inout UpdateBuffer) -> [ItemUpdate] {
        var updates: [ItemUpdate] = []
        while let update = buffer.take() { updates.append(update) }
        return updates
    }

    @Test func snapshotDoesNotCountAgainstTheLimit() {
        var buffer = UpdateBuffer(.all(limit: 2))
        _ = put(Self.subscribed, into: &buffer)
        for number in 1...100 { _ = put(Self.row(1, "\(number)", isSnapshot: true), into: &buffer) }
        let later = put(Self.row(1, "101"), Self.row(1, "102"), Self.row(1, "103"), into: &buffer)
        #expect(later == [true, true, false])
        #expect(taken(&buffer).count == 102)
        // The next session.
        let row = Self.row(1, "1", isSnapshot: true)
        #expect(put(Self.subscribed, row, row, row, into: &buffer) == [true, true, true, true])
        #expect(taken(&buffer).count == 3)
    }

    @Test func snapshotCountsWhileTheOneBeforeIsUnread() {
        var buffer = UpdateBuffer(.all(limit: 2))
        let row = Self.row(1, "1", isSnapshot: true)
        #expect(put(Self.subscribed, row, row, row, into: &buffer) == [true, true, true, true])
        #expect(put(Self.subscribed, row, row, row, into: &buffer) == [true, true, true, false])
        #expect(taken(&buffer).count == 5)
    }

    @Test func latestKeepsOneRowForEachItemWithAllChangedFields() {
        var buffer = UpdateBuffer(.latest)
        _ = put(Self.row(1, "1", changed: 1), Self.row(2, "2", changed: 1), Self.row(1, "3", changed: 2), into: &buffer)
        let updates = taken(&buffer)
        #expect(updates.map(\.itemPos) == [1, 2])
        #expect(updates.map { $0["x"] } == ["3", "2"])
        #expect(updates.map(\.changed.positions) == [[1, 2], [1]])
    }

    @Test func keyAddedAndDeletedUnreadLeavesNothing() {
        var buffer = UpdateBuffer(.latest)
        for number in 1...1_000 {
            _ = put(Self.row("k\(number)", "ADD", "1"), Self.row("k\(number)", "DELETE"), into: &buffer)
        }
        #expect(taken(&buffer).isEmpty)
    }

    @Test func keyUnknownToTheReaderStaysAdded() {
        var buffer = UpdateBuffer(.latest)
        _ = put(Self.row("k", "ADD", "1"), Self.row("k", "UPDATE", "2"), into: &buffer)
        let added = taken(&buffer)
        #expect(added.map(\.command) == ["ADD"] && added.map { $0["x"] } == ["2"])
        _ = put(Self.row("k", "UPDATE", "3"), Self.row("k", "DELETE"), into: &buffer)
        let deleted = taken(&buffer)
        #expect(deleted.map(\.command) == ["DELETE"] && deleted.map { $0["x"] } == [nil])
    }

    @Test func keyDeletedAndAddedAgainUnreadIsUpdated() {
        var buffer = UpdateBuffer(.latest)
        _ = put(Self.row("k", "ADD", "1"), into: &buffer)
        #expect(taken(&buffer).map(\.command) == ["ADD"])
        _ = put(Self.row("k", "DELETE"), Self.row("k", "ADD", "2"), into: &buffer)
        let updated = taken(&buffer)
        #expect(updated.map(\.command) == ["UPDATE"] && updated.map { $0["x"] } == ["2"])
        #expect(updated.map(\.changed.positions) == [[1, 2, 3, 4]])
        _ = put(Self.row("k", "UPDATE", "3"), Self.row("k", "DELETE"), into: &buffer)
        #expect(taken(&buffer).map(\.command) == ["DELETE"])
    }

    @Test func keyDeletedBeforeItWasThereIsAdded() {
        var buffer = UpdateBuffer(.latest)
        let early = Self.row("k", "DELETE", isFirst: true)
        _ = put(early, into: &buffer)
        #expect(taken(&buffer).map(\.command) == ["DELETE"])
        _ = put(early, Self.row("k", "ADD", "1"), into: &buffer)
        #expect(taken(&buffer).map(\.command) == ["ADD"])
    }

    @Test func clearedItemAndEndedSessionHaveNoWaitingRows() {
        var buffer = UpdateBuffer(.latest)
        let rows = [Self.row(1, "1", changed: 1), Self.row(2, "2", changed: 1)]
        _ = put(rows[0], rows[1], .clearSnapshot(itemPos: 1), into: &buffer)
        #expect(taken(&buffer).map(\.itemPos) == [2])
        _ = put(rows[0], Self.subscribed, into: &buffer)
        #expect(taken(&buffer).isEmpty)
    }
}
