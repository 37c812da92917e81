import EventHub
import JSONText
import SessionCore
import Testing

@testable import Gateway
@testable import SessionPool

@Suite struct ValuesViewTests {
    /// A view of a COMMAND subscription with a second level and one key, or of a MERGE one with one row.
    private func view(_ properties: SubscriptionProperties, _ events: [SubscriptionEvent]) -> ValuesView {
        var table = ValueTable(properties: properties)
        for event in events { table.apply(event, at: Moment(nanoseconds: 1_000_000_000)) }
        return ValuesView(
            subscription: "s",
            table: table,
            isStale: false,
            status: SubscriptionStatus(),
            now: Moment(nanoseconds: 3_500_000_000)
        )
    }

    /// The layout of a COMMAND subscription whose first two fields are `key` and `command`.
    private func layout(
        _ names: [String],
        items: [String] = ["a"],
        hasSecondLevel: Bool = false
    ) -> SubscriptionLayout {
        SubscriptionLayout(
            itemNames: items,
            fieldNames: names,
            fieldCount: names.count,
            keyPosition: 1,
            commandPosition: 2,
            hasSecondLevel: hasSecondLevel
        )
    }

    private var merge: ValuesView {
        let layout = SubscriptionLayout(itemNames: ["a", "b"], fieldNames: ["x", "2"], fieldCount: 2)
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["1", nil],
            changed: FieldSet(all: 2)
        )
        return view(
            SubscriptionProperties(mode: .merge, items: .list(["a", "b"]), fields: .list(["x", "2"])),
            [.subscribed(itemCount: 2, fieldCount: 2, keyPosition: nil, commandPosition: nil), .update(update)]
        )
    }

    private var command: ValuesView {
        let names = ["key", "command", "x"]
        let layout = layout(names)
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: ["k", "ADD", "7"],
            changed: FieldSet(all: 3)
        )
        return view(
            SubscriptionProperties(mode: .command, items: .list(["a"]), fields: .list(names)),
            [.subscribed(itemCount: 1, fieldCount: 3, keyPosition: 1, commandPosition: 2), .update(update)]
        )
    }

    @Test func keysCountAsPartsOfATable() {
        let names = ["key", "command", "x"]
        let layout = layout(names, items: ["a", "b"])
        let rows = (0..<20_000).map { key in
            SubscriptionEvent.update(
                ItemUpdate(
                    layout: layout,
                    itemPos: 1,
                    isSnapshot: true,
                    values: ["k\(key)", "ADD", "7"],
                    changed: FieldSet(all: 3)
                )
            )
        }
        let view = view(
            SubscriptionProperties(mode: .command, items: .list(["a", "b"]), fields: .list(names)),
            [.subscribed(itemCount: 2, fieldCount: 3, keyPosition: 1, commandPosition: 2)] + rows
        )
        #expect(view.table.cellCount == 60_006)
        #expect(view.table.cellCount(item: 1) == 60_003)
        #expect(view.table.cellCount(item: 2) == 3)
        #expect(merge.table.cellCount == 4)
    }

    @Test func longTextsMakeATableLarge() {
        let layout = SubscriptionLayout(itemNames: ["a", "b"], fieldNames: ["x", "y"], fieldCount: 2)
        let update = ItemUpdate(
            layout: layout,
            itemPos: 1,
            isSnapshot: true,
            values: [String(repeating: "x", count: 2 << 20), "1"],
            changed: FieldSet(all: 2)
        )
        let view = view(
            SubscriptionProperties(mode: .merge, items: .list(["a", "b"]), fields: .list(["x", "y"])),
            [.subscribed(itemCount: 2, fieldCount: 2, keyPosition: nil, commandPosition: nil), .update(update)]
        )
        let table = view.table
        #expect(table.writing == .large && merge.table.writing == .small)
        #expect(table.writing(item: 1) == .large && table.writing(item: 2) == .small)
        #expect(table.writing(item: 1, field: 1, key: nil) == .large)
        #expect(table.writing(item: 1, field: 2, key: nil) == .small)
        #expect(table.isLonger(than: 2 << 20) && !table.isLonger(than: 3 << 20))
    }

    private func json(_ write: (inout JSONBytes) -> Void) throws -> JSONValue {
        var json = JSONBytes()
        write(&json)
        return try JSONValue(parsing: json.bytes)
    }

    private func object(_ writeMembers: (inout JSONBytes) -> Void) throws -> JSONValue {
        try json { json in
            json.beginObject()
            writeMembers(&json)
            json.endObject()
        }
    }

    @Test func aNameWinsOverAPosition() throws {
        #expect(try merge.field("2") == 2)
        #expect(try merge.field("1") == 1)
        #expect(try merge.item("b") == 2)
        #expect(try merge.item("1") == 1)
    }

    @Test(arguments: ["c", "3", "0", "-1", "", "99999999999999999999"])
    func anUnknownItemIsNotFound(item: String) {
        #expect { try merge.item(item) } throws: { ($0 as? Problem)?.code == .unknownItem }
    }

    @Test func anyPositionWillDoWhileTheSizeIsUnknown() throws {
        let view = view(SubscriptionProperties(mode: .merge, items: .group("g"), fields: .group("s")), [])
        #expect(try view.item("77") == 77)
        #expect(view.value(item: 77, field: try view.field("9")) == nil)
        #expect(throws: Problem.self) { try view.item("name") }
    }

    @Test func theTableHasEveryItemWithEveryField() throws {
        let json = try JSONValue(parsing: merge.encodedTable().json(at: merge.now))
        #expect(json["items"]?.array?.count == 2)
        #expect(json["items"]?.array?[0]["fields"]?["x"]?.string == "1")
        #expect(json["items"]?.array?[0]["age"]?.number?.doubleValue == 2.5)
        #expect(json["items"]?.array?[1]["fields"]?["2"]?.isNull == true)
        #expect(json["items"]?.array?[1]["age"]?.isNull == true)
        #expect(json["items"]?.array?[0]["keys"] == nil)
    }

    @Test(arguments: [0, 0.0004, 0.0006, 2.25, 86_400])
    func anEncodedTableHasTheAgesOfEachMoment(seconds: Double) throws {
        let table = merge.encodedTable()
        let later = merge.now + .seconds(seconds)
        let bytes = table.json(at: later)
        #expect(table.length(at: later) == bytes.count)
        #expect(table.length(at: merge.now) == table.bytes.count + merge.agesLength)
        let age = try JSONValue(parsing: bytes)["items"]?.array?[0]["age"]?.number?.doubleValue
        #expect(age == ((2.5 + seconds) * 1000).rounded() / 1000)
    }

    @Test func commandModeHasKeys() throws {
        let item = try object { command.writeMembers(of: 1, to: &$0) }
        #expect(item["keys"]?["k"]?["x"]?.string == "7")
        #expect(try object { command.writeKeys(of: 1, to: &$0) }["keys"]?.array?.map(\.string) == ["k"])
        #expect(try object { command.writeKey("k", of: 1, to: &$0) }["fields"]?["x"]?.string == "7")
        #expect { try merge.checkCommand() } throws: { ($0 as? Problem)?.code == .notCommandMode }
    }

    @Test func aKeyThatTheItemDoesNotHaveIsNull() throws {
        #expect(try object { command.writeKey("z", of: 1, to: &$0) }["fields"] == .null)
        #expect(command.value(item: 1, field: 1, key: "z") == nil)
    }

    @Test func rowsHaveAllFieldsWhileTheNumberOfSecondLevelFieldsIsUnknown() {
        let names = ["key", "command"]
        let layout = layout(names, hasSecondLevel: true)
        var properties = SubscriptionProperties(mode: .command, items: .list(["a"]), fields: .list(names))
        properties.secondLevelFields = .group("s")
        var table = ValueTable(properties: properties)
        table.apply(.subscribed(itemCount: 1, fieldCount: 2, keyPosition: 1, commandPosition: 2))
        for row in [["k", "ADD"], ["l", "ADD", "7", "8"]] {
            let changed = FieldSet(all: row.count)
            table.apply(ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: row, changed: changed))
        }
        let values = CurrentValues(upstream: "demo", table: table, isStale: false)
        func text(_ form: ValuesForm) -> String? {
            values.encoded(as: form).map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(text(.csv) == "item,1,2,3,4\r\na,k,ADD,,\r\na,l,ADD,7,8\r\n")
        #expect(text(.text) == "a\tk\tADD\t\t\na\tl\tADD\t7\t8\n")
    }

    /// As in events, members of the second level are left out until it has sent values for the key.
    @Test func rowsHaveTheSameMembersForEveryReader() throws {
        let names = ["key", "command"]
        let layout = layout(names, hasSecondLevel: true)
        var properties = SubscriptionProperties(mode: .command, items: .list(["a", "b"]), fields: .list(names))
        properties.secondLevelFields = .list(["x", "y"])
        let rows = [["k", "ADD"], ["l", "UPDATE", "7", nil]].map { row in
            let changed = FieldSet(all: row.count)
            return SubscriptionEvent.update(
                ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: row, changed: changed)
            )
        }
        let subscribed = SubscriptionEvent.subscribed(itemCount: 2, fieldCount: 2, keyPosition: 1, commandPosition: 2)
        let view = view(properties, [subscribed] + rows)
        let values = CurrentValues(upstream: "demo", table: view.table, isStale: false)
        for table in [view.encodedTable(), try #require(values.encoded(as: .json))] {
            let items = try #require(JSONValue(parsing: table.json(at: view.now))["items"]?.array)
            #expect(items.map { $0["fields"] } == [["key": "k", "command": "ADD"], ["key": nil, "command": nil]])
            #expect(items[0]["keys"]?["k"] == ["key": "k", "command": "ADD"])
            #expect(items[0]["keys"]?["l"] == ["key": "l", "command": "UPDATE", "x": "7", "y": nil])
        }
        let lines = try #require(values.encoded(as: .ndjson)).json(at: view.now).split(separator: UInt8(ascii: "\n"))
        let first = try JSONValue(parsing: Array(lines[0]))
        #expect(first["fields"] == ["key": "k", "command": "ADD"])
    }

    @Test func namesAreToldByTheirBytes() {
        for names in [["\u{E4}", "a\u{308}"], ["\u{E4}", "a\u{308}"] + (1...20).map { "f\($0)" }] {
            let labels = FieldNaming(SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(names)))
            #expect(labels.label(2).hasSameBytes(as: "a\u{308}"))
        }
        let names = ["key", "command"]
        let layout = layout(names)
        var table = ValueTable(
            properties: SubscriptionProperties(mode: .command, items: .list(["a"]), fields: .list(names))
        )
        table.apply(.subscribed(itemCount: 1, fieldCount: 2, keyPosition: 1, commandPosition: 2))
        let row = ["\u{E4}", "ADD"]
        table.apply(
            ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: row, changed: FieldSet(all: 2))
        )
        func text(_ key: String) -> String? {
            let form = FeedForm(feed: FeedConfiguration(name: "f"), shape: .key(ExactText(key)))
            let values = CurrentValues(upstream: "demo", table: table, isStale: false, feed: form)
            return values.encoded(as: .text).map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(text("\u{E4}") == "\u{E4}\tADD\n")
        #expect(text("a\u{308}") == nil)
        #expect(FeedShape.key("\u{E4}") != .key("a\u{308}"))
    }

    @Test func labelsAreNamesOnlyIfNamesAreUnique() {
        var properties = SubscriptionProperties(mode: .command, items: .group("g"), fields: .list(["a", "b"]))
        properties.secondLevelFields = .list(["c"])
        #expect(FieldNaming(properties).label(3) == "c")
        properties.secondLevelFields = .list(["a"])
        #expect(FieldNaming(properties).label(1) == "1")
        properties.secondLevelFields = .group("s")
        #expect(FieldNaming(properties).label(2) == "2")
    }
}
