import SessionCore
import Testing

@testable import Gateway
@testable import SessionPool

/// What a long poll knows of its part of the values. All updates have the same time, as those of one batch do.
@Suite struct PolledPartTests {
    /// A subscription to the items `a` and `b`.
    private struct Source {
        private var table: ValueTable
        private var status = SubscriptionStatus()
        private let layout: SubscriptionLayout
        var isStale = false

        init(_ mode: SubscriptionMode, hasSecondLevel: Bool = false) {
            let names = ["key", "command", "x"]
            let isCommand = mode == .command
            var properties = SubscriptionProperties(mode: mode, items: .list(["a", "b"]), fields: .list(names))
            if hasSecondLevel { properties.secondLevelFields = .list(["y"]) }
            table = ValueTable(properties: properties)
            layout = SubscriptionLayout(
                itemNames: ["a", "b"],
                fieldNames: names,
                fieldCount: 3,
                keyPosition: isCommand ? 1 : nil,
                commandPosition: isCommand ? 2 : nil
            )
            let (key, command) = (layout.keyPosition, layout.commandPosition)
            take(.subscribed(itemCount: 2, fieldCount: 3, keyPosition: key, commandPosition: command))
        }

        var view: ValuesView {
            ValuesView(subscription: "s", table: table, isStale: isStale, status: status, now: .zero)
        }

        mutating func take(_ event: SubscriptionEvent) {
            table.apply(event)
            status.version += 1
        }

        mutating func update(_ item: Int, _ values: [String?]) {
            let update = ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: false,
                values: values,
                changed: FieldSet(all: values.count)
            )
            take(.update(update))
            status.updates += 1
        }
    }

    private func noted(_ target: ValuesTarget, in source: Source) -> PolledPart {
        let part = PolledPart()
        #expect(!part.isKnown(in: source.view))
        part.note(target, in: source.view)
        #expect(part.isKnown(in: source.view))
        return part
    }

    @Test(arguments: [ValuesTarget.item(1), .value(1, field: 3, key: nil)])
    func anUpdateOfAnotherItemLeavesAPartAsItIs(target: ValuesTarget) {
        var source = Source(.merge)
        let empty = noted(target, in: source)
        source.update(2, ["1", "2", "3"])
        #expect(empty.isKnown(in: source.view))
        source.update(1, ["4", "5", "6"])
        #expect(!empty.isKnown(in: source.view))
        let part = noted(target, in: source)
        source.update(2, ["1", "2", "4"])
        #expect(part.isKnown(in: source.view))
        source.update(1, ["4", "5", "7"])
        #expect(!part.isKnown(in: source.view))
    }

    @Test(arguments: [ValuesTarget.item(1), .keys(1)])
    func anUpdateOfAKeyChangesItsItem(target: ValuesTarget) {
        var source = Source(.command)
        source.update(1, ["k", "ADD", "3"])
        let part = noted(target, in: source)
        source.update(2, ["k", "ADD", "3"])
        #expect(part.isKnown(in: source.view))
        source.update(1, ["l", "ADD", "3"])
        #expect(!part.isKnown(in: source.view))
        source.update(1, ["k", "UPDATE", "3"])
        #expect(!part.isKnown(in: source.view))
    }

    @Test(arguments: [ValuesTarget.key(1, "k"), .value(1, field: 3, key: "k")])
    func anUpdateOfAnotherKeyLeavesAPartAsItIs(target: ValuesTarget) {
        var source = Source(.command)
        source.update(1, ["k", "ADD", "3"])
        let part = noted(target, in: source)
        source.update(1, ["l", "ADD", "3"])
        #expect(part.isKnown(in: source.view))
        source.update(1, ["k", "DELETE", nil])
        #expect(!part.isKnown(in: source.view))
    }

    @Test func otherEventsChangeAllParts() {
        var source = Source(.merge)
        source.update(1, ["1", "2", "3"])
        let part = noted(.item(1), in: source)
        source.isStale = true
        #expect(!part.isKnown(in: source.view))
        source.isStale = false
        source.take(.clearSnapshot(itemPos: 1))
        #expect(!part.isKnown(in: source.view))
    }

    @Test func anyUpdateChangesATableAndAnItemWithASecondLevel() {
        var source = Source(.merge)
        let table = noted(.table, in: source)
        source.update(2, ["1", "2", "3"])
        #expect(!table.isKnown(in: source.view))
        var second = Source(.command, hasSecondLevel: true)
        let item = noted(.item(1), in: second)
        second.update(2, ["k", "ADD", "3", "4"])
        #expect(!item.isKnown(in: second.view))
    }
}
