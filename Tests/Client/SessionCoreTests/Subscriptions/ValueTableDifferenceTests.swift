import Testing

@testable import SessionCore

@Suite struct ValueTableDifferenceTests {
    private static func properties(_ mode: SubscriptionMode) -> SubscriptionProperties {
        let fields = mode == .command ? ["key", "command", "qty"] : ["x", "y"]
        var properties = SubscriptionProperties(mode: mode, items: .list(["a", "b"]), fields: .list(fields))
        properties.requestedSnapshot = .yes
        return properties
    }

    private static func table(_ mode: SubscriptionMode, _ events: [SubscriptionEvent]) -> ValueTable {
        let properties = properties(mode)
        var table = ValueTable(properties: properties)
        let isCommand = mode == .command
        table.apply(
            .subscribed(
                itemCount: 2,
                fieldCount: properties.fields.names?.count ?? 0,
                keyPosition: isCommand ? 1 : nil,
                commandPosition: isCommand ? 2 : nil
            )
        )
        for event in events { table.apply(event) }
        return table
    }

    private static func update(_ mode: SubscriptionMode, _ item: Int, _ values: [String?]) -> SubscriptionEvent {
        let properties = properties(mode)
        let isCommand = mode == .command
        return .update(
            ItemUpdate(
                layout: SubscriptionLayout(
                    itemNames: properties.items.names,
                    fieldNames: properties.fields.names,
                    fieldCount: values.count,
                    keyPosition: isCommand ? 1 : nil,
                    commandPosition: isCommand ? 2 : nil,
                    secondLevelFieldNames: nil,
                    hasSecondLevel: false
                ),
                itemPos: item,
                isSnapshot: true,
                values: values,
                changed: FieldSet(all: values.count)
            )
        )
    }

    @Test func onlyFieldsThatDifferAreChanged() {
        let old = Self.table(.merge, [Self.update(.merge, 1, ["1", "2"]), Self.update(.merge, 2, ["5", "6"])])
        let new = Self.table(.merge, [Self.update(.merge, 1, ["1", "3"]), Self.update(.merge, 2, ["5", "6"])])
        let events = old.updates(to: new)
        guard case .update(let update)? = events.first, events.count == 1 else {
            Issue.record("\(events)")
            return
        }
        #expect(update.itemPos == 1 && update.values == ["1", "3"] && !update.isSnapshot)
        #expect(!update.changed.contains(1) && update.changed.contains(2))
        #expect(new.updates(to: new).isEmpty)
    }

    @Test(arguments: [("\u{E9}", "e\u{301}"), ("e\u{301}", "\u{E9}")])
    func anotherUnicodeFormIsAnotherValue(before: String, after: String) {
        let old = Self.table(.merge, [Self.update(.merge, 1, ["1", before]), Self.update(.merge, 2, [before, nil])])
        let new = Self.table(.merge, [Self.update(.merge, 1, ["1", after]), Self.update(.merge, 2, [before, after])])
        let updates = old.updates(to: new).compactMap { event in
            if case .update(let update) = event { update } else { nil }
        }
        #expect(updates.map(\.changed.positions) == [[2], [2]])
        #expect(updates.allSatisfy { $0.value(at: 2)?.utf8.elementsEqual(after.utf8) == true })
    }

    @Test func keysAreAddedUpdatedAndDeleted() {
        func row(_ key: String, _ command: String, _ quantity: String?) -> SubscriptionEvent {
            Self.update(.command, 1, [key, command, quantity])
        }
        let old = Self.table(
            .command,
            [row("gone", "ADD", "1"), row("kept", "ADD", "2"), row("changed", "ADD", "3"), .endOfSnapshot(itemPos: 1)]
        )
        let new = Self.table(
            .command,
            [
                row("kept", "ADD", "2"), row("kept", "UPDATE", "2"), row("changed", "ADD", "4"), row("new", "ADD", "5"),
                .endOfSnapshot(itemPos: 1),
            ]
        )
        let events = old.updates(to: new)
        let updates = events.compactMap { event in if case .update(let update) = event { update } else { nil } }
        #expect(updates.map(\.key) == ["gone", "changed", "new"])
        #expect(updates.map(\.command) == ["DELETE", "UPDATE", "ADD"])
        #expect(events.count == 3)
        var table = old
        for event in events { table.apply(event) }
        #expect(Set(table.keys(item: 1)) == ["kept", "changed", "new"])
        for key in new.keys(item: 1) {
            #expect(table.value(item: 1, key: key, field: 3) == new.value(item: 1, key: key, field: 3))
        }
    }

    /// The rows came as changes, before the end of the snapshot.
    @Test func rowsThatCompleteASnapshotAreMarkedAndComeBeforeItsEnd() {
        func rows(_ quantities: KeyValuePairs<String, String>) -> [SubscriptionEvent] {
            quantities.map { Self.update(.command, 1, [$0.key, "ADD", $0.value]) }
        }
        let old = Self.table(.command, rows(["gone": "1", "changed": "2"]))
        let new = Self.table(.command, rows(["changed": "3", "new": "4"]) + [.endOfSnapshot(itemPos: 1)])
        let events = old.updates(to: new).map { event in
            guard case .update(let update) = event else {
                return event == .endOfSnapshot(itemPos: 1) ? "end" : "\(event)"
            }
            return "\(update.command ?? "") \(update.key ?? "")\(update.isSnapshot ? " of the snapshot" : "")"
        }
        #expect(events == ["ADD new of the snapshot", "end", "DELETE gone", "UPDATE changed"])
    }

    @Test func theFirstRowOfAnItemIsItsSnapshot() {
        let new = Self.table(.merge, [Self.update(.merge, 1, ["1", "2"])])
        guard case .update(let update)? = Self.table(.merge, []).updates(to: new).first else {
            Issue.record("no update")
            return
        }
        #expect(update.isSnapshot && update.changed.positions == [1, 2])
    }

    @Test func secondLevelOfAKeyStaysUntilTheOtherTableHasIt() {
        let old = Self.table(.command, [Self.update(.command, 1, ["k", "UPDATE", "1", "x"])])
        let same = Self.table(.command, [Self.update(.command, 1, ["k", "ADD", "1"])])
        #expect(old.updates(to: same).isEmpty)
        let other = Self.table(.command, [Self.update(.command, 1, ["k", "ADD", "2"])])
        let whole = Self.table(.command, [Self.update(.command, 1, ["k", "UPDATE", "1", "y"])])
        let updates = (old.updates(to: other) + old.updates(to: whole)).compactMap { event in
            if case .update(let update) = event { update } else { nil }
        }
        #expect(updates.map(\.values) == [["k", "UPDATE", "2", "x"], ["k", "UPDATE", "1", "y"]])
        #expect(updates.map(\.changed.positions) == [[3], [4]])
    }

    @Test func anItemIsCoveredWhenItsValuesHaveCome() {
        let row = Self.update(.merge, 1, ["1", "2"])
        let (empty, full) = (Self.table(.merge, []), Self.table(.merge, [row]))
        #expect(!full.isCovered(1, by: empty) && full.isCovered(2, by: empty) && full.isCovered(1, by: full))
        let command = Self.table(.command, [])
        #expect(!command.isCovered(1, by: command))
        #expect(command.isCovered(1, by: Self.table(.command, [.endOfSnapshot(itemPos: 1)])))
    }
}
