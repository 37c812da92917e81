import LightstreamerClient
import Testing

@testable import GatewayCLI

@Suite struct WatchTableTests {
    private func update(_ item: String, _ fields: [(String, String?)], key: String? = nil, command: String? = nil)
        -> WatchEvent
    {
        .update(
            WatchUpdate(
                item: item,
                key: key,
                command: command,
                fields: fields.map { WatchUpdate.Field(name: $0.0, value: $0.1) }
            )
        )
    }

    private func lines(_ table: WatchTable, width: Int = 60, height: Int = 6, now: Double = 10) -> [String] {
        table.lines(width: width, height: height, now: now, isColoured: false)
    }

    @Test func mergeHasARowForEachItemThatChangesInPlace() {
        var table = WatchTable(mode: .merge, fields: ["price", "name"])
        table.apply(.status("CONNECTED:WS-STREAMING"), now: 0)
        table.apply(update("item1", [("price", "1.5"), ("name", "A")]), now: 0)
        table.apply(update("item2", [("price", "10"), ("name", nil)]), now: 0)
        table.apply(update("item1", [("price", "2.5")]), now: 9)
        let lines = lines(table)
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix("item   price  name"))
        #expect(lines[1].hasPrefix("item1   2.5▲  A"))
        #expect(lines[2].hasPrefix("item2    10   null"))
        #expect(lines[5] == "CONNECTED:WS-STREAMING · q: quit · 3 updates · last 1 s ago")
    }

    /// In `String`s, the composed letter equals the one with a combining mark.
    @Test func namesAreToldApartByTheirBytes() {
        let (composed, combined) = ("\u{E9}", "e\u{301}")
        var table = WatchTable(mode: .merge, fields: [composed, combined])
        table.apply(update(composed, [(composed, "1"), (combined, "2")]), now: 0)
        table.apply(update(combined, [(composed, "3"), (combined, "4")]), now: 0)
        let rows = lines(table)[1...2].map { $0.split(separator: " ").dropFirst() }
        #expect(rows == [["1", "2"], ["3", "4"]])
        table.apply(.other(name: "clear-snapshot", content: #"{"item": "e\u0301", "itemPos": 2}"#), now: 0)
        #expect(lines(table)[2].isEmpty)
    }

    @Test func decreaseAndOldChangeAreReported() {
        var table = WatchTable(mode: .merge, fields: ["price"])
        table.apply(update("a", [("price", "2")]), now: 0)
        table.apply(update("a", [("price", "1")]), now: 9)
        #expect(lines(table)[1].contains("1▼"))
        #expect(!lines(table, now: 12)[1].contains("▼"))
        let coloured = table.lines(width: 60, height: 6, now: 10)
        #expect(coloured[1].contains("\u{1B}[31m"))
    }

    @Test func commandHasARowForEachKeyUntilItIsDeleted() {
        var table = WatchTable(mode: .command, fields: ["qty"])
        table.apply(update("p", [("qty", "5")], key: "k1", command: "ADD"), now: 0)
        table.apply(update("p", [("qty", "6")], key: "k2", command: "ADD"), now: 0)
        table.apply(update("p", [("qty", nil)], key: "k1", command: "DELETE"), now: 0)
        let lines = lines(table)
        #expect(lines[1].hasPrefix("p     k2"))
        #expect(lines[2].isEmpty)
    }

    /// A table of a feed had a row for each item only.
    @Test func theStreamOfAFeedTellsTheMode() {
        var table = WatchTable(mode: .merge, fields: ["qty"])
        let sources = #"[{"subscription":"s1","mode":"COMMAND"}]"#
        table.apply(.other(name: "stream", content: #"{"resume":"fresh","sources":\#(sources)}"#), now: 0)
        table.apply(update("p", [("qty", "5")], key: "k1", command: "ADD"), now: 0)
        table.apply(update("p", [("qty", "6")], key: "k2", command: "ADD"), now: 0)
        let lines = lines(table)
        #expect(lines[0].hasPrefix("item  key"))
        #expect(lines[1].hasPrefix("p     k1") && lines[2].hasPrefix("p     k2"))
    }

    @Test func distinctShowsTheNewestRows() {
        var table = WatchTable(mode: .distinct, fields: ["text"])
        for number in 1...10 { table.apply(update("chat", [("text", "m\(number)")]), now: 0) }
        let lines = lines(table, width: 80)
        #expect(lines[4].contains("m10"))
        #expect(lines[1].contains("m7"))
        #expect(lines[5].contains("6 more rows"))
    }

    /// The row of an update was blank where the update changed nothing.
    @Test(arguments: [SubscriptionMode.distinct, .raw])
    func eachRowHasTheValuesThatItsUpdateRepeats(mode: SubscriptionMode) {
        var table = WatchTable(mode: mode, fields: ["text", "by"])
        table.apply(update("chat", [("text", "one"), ("by", "ann")]), now: 0)
        table.apply(update("chat", [("text", "two")]), now: 0)
        #expect(lines(table, now: 0)[2] == "chat  two•  ann ")
        table.apply(.other(name: "clear-snapshot", content: #"{"item":"chat"}"#), now: 0)
        table.apply(update("chat", [("text", "six")]), now: 0)
        #expect(lines(table, now: 0)[1] == "chat  six•  ann ")
        table.apply(.other(name: "subscribed", content: "{}"), now: 0)
        table.apply(update("chat", [("text", "new")]), now: 0)
        #expect(lines(table).contains { $0.hasPrefix("chat  new") && !$0.contains("ann") })
    }

    @Test(arguments: [0, 1, 3, 7, 20])
    func noLineIsWiderThanTheTerminal(width: Int) {
        var table = WatchTable(mode: .merge, fields: ["field", "other"])
        table.apply(update("a very long name of an item", [("field", "a long value"), ("other", "1")]), now: 0)
        for line in lines(table, width: width) { #expect(line.columns <= width) }
    }

    @Test func wideCharactersTakeTwoColumns() {
        var table = WatchTable(mode: .merge, fields: ["text", "price"])
        table.apply(update("a", [("text", "漢字"), ("price", "1")]), now: 0)
        table.apply(update("b", [("text", "😀"), ("price", "2")]), now: 0)
        table.apply(update("c", [("text", "abcd"), ("price", "3")]), now: 0)
        let rows = lines(table, now: 20)[1...3].map { $0 }
        #expect(Set(rows.map(\.columns)) == [rows[2].count])
        for width in 0...20 {
            for line in lines(table, width: width) { #expect(line.columns <= width) }
        }
        #expect("e\u{301}\u{2764}\u{FE0F}".columns == 3)
    }

    /// The snapshot after a new session or a new stream does not have what was deleted meanwhile.
    @Test(arguments: [("subscribed", "{}"), ("stream", #"{"resume":"gap"}"#)])
    func aSnapshotReplacesKeys(event: String, content: String) {
        var table = WatchTable(mode: .command, fields: ["qty"])
        table.apply(update("p", [("qty", "5")], key: "k1", command: "ADD"), now: 0)
        table.apply(.other(name: "stream", content: #"{"resume":"resumed"}"#), now: 0)
        #expect(lines(table)[1].hasPrefix("p     k1"))
        table.apply(.other(name: event, content: content), now: 0)
        #expect(lines(table)[1].isEmpty)
    }

    @Test func aClearedItemLosesItsRows() {
        var table = WatchTable(mode: .merge, fields: ["a"])
        table.apply(update("item1", [("a", "1")]), now: 0)
        table.apply(update("item2", [("a", "2")]), now: 0)
        table.apply(.other(name: "clear-snapshot", content: #"{"item":"item1","itemPos":1}"#), now: 0)
        #expect(lines(table)[1].hasPrefix("item2"))
    }

    @Test func lossesAreSentencesInTheLastLine() {
        var table = WatchTable(mode: .raw, fields: ["a"])
        table.apply(.other(name: "real-max-frequency", content: #"{"value":"unlimited"}"#), now: 0)
        #expect(lines(table)[5] == "connecting · q: quit · 0 updates")
        table.apply(.other(name: "lost-updates", content: #"{"item":"i","count":2}"#), now: 0)
        #expect(lines(table)[5] == "connecting · q: quit · 0 updates · 2 updates of i were lost")
    }

    @Test func theRowsStayWhenTheDisplayEnds() {
        var table = WatchTable(mode: .merge, fields: ["a"])
        #expect(table.lastLines(width: 60, height: 6, isColoured: false).isEmpty)
        table.apply(update("item1", [("a", "1")]), now: 0)
        #expect(
            table.lastLines(width: 60, height: 6, isColoured: false).map { $0.prefix(9) } == ["item    a", "item1  1 "]
        )
    }

    /// Data must not control the terminal.
    @Test func controlCharactersAreReplaced() {
        var table = WatchTable(mode: .merge, fields: ["a"])
        table.apply(update("i\u{1B}[2J", [("a", "x\n\u{9B}31m\u{7}")]), now: 0)
        table.apply(.status("S\u{1B}c"), now: 0)
        let text = lines(table).joined()
        #expect(!text.unicodeScalars.contains { $0.properties.generalCategory == .control })
        let line = LineDisplay.line(WatchUpdate(item: "i\u{1B}", fields: [.init(name: "a", value: "1\r\n2")]))
        #expect(line == "i\u{FFFD} a=1\u{FFFD}\u{FFFD}2")
    }

    /// They move the columns behind a value, or begin a line in a terminal.
    @Test func charactersThatChangeTheDirectionOrEndALineAreReplaced() {
        let value = "a\u{202E}b\u{2066}c\u{2028}d\u{2029}e\u{61C}"
        let line = LineDisplay.line(WatchUpdate(item: "i", fields: [.init(name: "a", value: value)]))
        #expect(line == "i a=a\u{FFFD}b\u{FFFD}c\u{FFFD}d\u{FFFD}e\u{FFFD}")
        // Families of emoji and words in Persian have format characters, too.
        let words = "\u{1F468}\u{200D}\u{1F469} \u{645}\u{6CC}\u{200C}\u{62E}"
        #expect(words.printable == words)
    }

    /// The output of `get`, and lines of JSON, in a terminal: no value ends a line, or overwrites its beginning.
    @Test(arguments: [
        ("a\tb\r\nc\td\r\n", "a\tb\nc\td\n"), ("\u{1B}]0;x\u{7}\n", "\u{FFFD}]0;x\u{FFFD}\n"),
        ("{\"a\":\"\u{9B}31m\u{7F}\"}\n", "{\"a\":\"\u{FFFD}31m\u{FFFD}\"}\n"), ("a\rb\n", "a\u{FFFD}b\n"), ("", ""),
    ])
    func linesKeepTheirEndsAndTabs(text: String, shown: String) { #expect(text.printableLines == shown) }
}
