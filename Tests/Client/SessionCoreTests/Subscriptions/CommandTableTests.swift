internal import Testing

@testable internal import SessionCore

/// Rows by key, on one level.
struct CommandTableTests {
    private static func rows(_ lines: String...) -> [String] {
        var table = CommandTable()
        return lines.map { line in
            let row = line.split(separator: "|").map { $0 == "#" ? nil : String($0) }
            guard let change = table.apply(row, keyPosition: 2, commandPosition: 3) else { return "null key" }
            let values = change.values.map { $0 ?? "#" }.joined(separator: "|")
            return "\(values) {\(change.changed.positions.map(String.init).joined(separator: " "))}"
        }
    }

    @Test(arguments: ["ADD", "UPDATE", "#", "whatever", "delete"])
    func firstRowOfAKeyIsAnAdd(command: String) {
        #expect(Self.rows("a|k|\(command)") == ["a|k|ADD {1 2 3}"])
    }

    @Test(arguments: ["ADD", "UPDATE", "#", "whatever"])
    func laterRowsAreUpdatesWhoseCommandChangesOnce(command: String) {
        #expect(
            Self.rows("a|k|ADD", "b|k|\(command)", "b|k|UPDATE", "c|k|\(command)")
                == ["a|k|ADD {1 2 3}", "b|k|UPDATE {1 3}", "b|k|UPDATE {}", "c|k|UPDATE {1}"]
        )
    }

    @Test func deleteBlanksAllButKeyAndCommand() {
        #expect(Self.rows("a|k|ADD", "x|k|DELETE") == ["a|k|ADD {1 2 3}", "#|k|DELETE {1 3}"])
    }

    @Test func earlyDeleteIsReported() {
        #expect(Self.rows("a|k|DELETE", "a|k|DELETE") == ["#|k|DELETE {1 2 3}", "#|k|DELETE {1 2 3}"])
    }

    @Test func keyThatWasDeletedIsAddedAgain() {
        #expect(Self.rows("a|k|ADD", "a|k|DELETE", "a|k|UPDATE").last == "a|k|ADD {1 2 3}")
    }

    @Test func rowsAreComparedWithTheirOwnKeysLastRow() {
        #expect(
            Self.rows("a|k1|ADD", "b|k2|ADD", "b|k1|UPDATE", "b|k2|UPDATE")
                == ["a|k1|ADD {1 2 3}", "b|k2|ADD {1 2 3}", "b|k1|UPDATE {1 3}", "b|k2|UPDATE {3}"]
        )
    }

    @Test func nullKeyIsRefused() {
        #expect(Self.rows("a|#|ADD") == ["null key"])
    }

    @Test func keysThatUnicodeFindsEquivalentStayApart() {
        let composed = "\u{E9}"
        let decomposed = "e\u{301}"
        #expect(
            Self.rows("a|\(composed)|ADD", "a|\(decomposed)|ADD").map { $0.contains("ADD {1 2 3}") } == [true, true]
        )
    }

    @Test func clearingForgetsAllKeys() {
        var table = CommandTable()
        _ = table.apply(["a", "k", "ADD"], keyPosition: 2, commandPosition: 3)
        #expect(table.clear() == [])
        #expect(table.apply(["a", "k", "UPDATE"], keyPosition: 2, commandPosition: 3)?.step == .added)
    }

    @Test(arguments: [
        ("item1", true), ("123i", true), ("123_456", true), ("1a", true), ("-1", true), ("a\r\nb", true), ("", false),
        ("a b", false), (" ", false), ("123", false), ("0", false),
    ])
    func onlySomeKeysCanNameItems(key: String, expected: Bool) {
        #expect(CommandTable.isItemName(key) == expected)
    }

    @Test func traceOfASingleLevelRuns() throws {
        var fixture = try StoreFixture.subscribed(.command())
        _ = try fixture.receive("EOS,1,1")
        let effects = try fixture.receive(
            "U,1,1,a|b|k1|ADD",
            "U,1,1,c||k2|",
            "U,1,1,a|B|k1|UPDATE",
            "U,1,1,x||k1|DELETE",
            "CS,1,1",
            "U,1,1,|||"
        )
        #expect(
            effects.brief == [
                "1 a|b|k1|ADD {1 2 3 4}", "1 c|b|k2|ADD {1 2 3 4}", "1 a|B|k1|UPDATE {2 4}", "1 #|#|k1|DELETE {1 2 4}",
                "cs 1",
                "1 #|#|k1|DELETE {1 2 3 4}",
            ]
        )
    }

    @Test func clearedKeysComeBackFromTheRawRow() throws {
        var fixture = try StoreFixture.subscribed(.command())
        let effects = try fixture.receive("U,1,1,a|b|k|ADD", "CS,1,1", "U,1,1,^4")
        #expect(effects.brief == ["1* a|b|k|ADD {1 2 3 4}", "cs 1", "1* a|b|k|ADD {1 2 3 4}"])
    }
}
