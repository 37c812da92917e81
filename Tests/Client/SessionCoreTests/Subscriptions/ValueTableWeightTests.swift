internal import SessionCore
internal import Testing

/// The size of the values of a table.
struct ValueTableWeightTests {
    private func table(
        _ mode: SubscriptionMode,
        recentRows: Int = 3,
        secondLevel: NameSource? = nil
    ) -> (ValueTable, SubscriptionLayout) {
        let isCommand = mode == .command
        let fields = isCommand ? ["key", "command", "x"] : ["x", "y", "z"]
        var properties = SubscriptionProperties(mode: mode, items: .group("all"), fields: .list(fields))
        if mode != .raw { properties.requestedSnapshot = .yes }
        properties.secondLevelFields = secondLevel
        var table = ValueTable(properties: properties, recentRows: recentRows)
        let (key, command) = isCommand ? (1, 2) : (nil, nil)
        table.apply(.subscribed(itemCount: 9, fieldCount: 3, keyPosition: key, commandPosition: command))
        let layout = SubscriptionLayout(
            itemNames: nil,
            fieldNames: fields,
            fieldCount: 3,
            keyPosition: key,
            commandPosition: command
        )
        return (table, layout)
    }

    private func update(_ layout: SubscriptionLayout, _ values: [String?], item: Int = 1) -> SubscriptionEvent {
        .update(
            ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: false,
                values: values,
                changed: FieldSet(all: values.count)
            )
        )
    }

    @Test(arguments: [SubscriptionMode.merge, .distinct, .raw])
    func itGrowsWithTheRowsThatAreKept(mode: SubscriptionMode) {
        var (table, layout) = table(mode)
        #expect(table.weight == 0)
        for _ in 0..<3 { table.apply(update(layout, ["a", nil, String(repeating: "b", count: 1000)])) }
        let full = table.weight
        #expect(full > 1000)
        for _ in 0..<10 { table.apply(update(layout, ["a", nil, String(repeating: "c", count: 1000)])) }
        #expect(table.weight == full)
        for _ in 0..<3 { table.apply(update(layout, ["a", nil, nil])) }
        #expect(table.weight < 1000)
        table.apply(.unsubscribed(isFinal: false))
        #expect(table.weight == 0)
    }

    @Test func aKeyCountsWithItsSecondLevelSubscription() {
        var (one, layout) = table(.command)
        var two = table(.command, secondLevel: .list(["y"])).0
        for key in 0..<1000 {
            one.apply(update(layout, ["k\(key)", "ADD", "12345"]))
            two.apply(update(layout, ["k\(key)", "ADD", "12345"]))
        }
        #expect(one.weight > 250_000)
        #expect(two.weight > one.weight + 2_000_000)
        for key in 0..<1000 { two.apply(update(layout, ["k\(key)", "DELETE", nil])) }
        #expect(two.weight < 1000)
    }

    @Test func keysCountUntilTheyAreDeleted() {
        var (table, layout) = table(.command)
        table.apply(update(layout, ["k", "ADD", "0"]))
        let one = table.weight
        for key in 0..<1000 { table.apply(update(layout, ["k\(key)", "ADD", "12345"])) }
        #expect(table.weight > 100_000)
        for key in 0..<1000 { table.apply(update(layout, ["k\(key)", "UPDATE", "1"])) }
        for key in 0..<1000 { table.apply(update(layout, ["k\(key)", "DELETE", nil])) }
        #expect(table.weight == one)
        table.apply(.clearSnapshot(itemPos: 1))
        #expect(table.weight < one)
        table.apply(.clearSnapshot(itemPos: 1))
        #expect(table.weight > 0)
    }
}
