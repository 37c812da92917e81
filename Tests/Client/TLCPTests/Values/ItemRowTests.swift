internal import TestSupport
internal import Testing

@testable internal import TLCP

struct ItemRowTests {
    private func row(_ lists: String..., fields: Int) throws -> ItemRow {
        var row = ItemRow(fieldCount: fields)
        for list in lists { _ = try row.apply(FieldList(list)) }
        return row
    }

    private func fault(_ lists: String..., fields: Int) -> TLCPError? {
        var row = ItemRow(fieldCount: fields)
        do throws(TLCPError) {
            for list in lists { _ = try row.apply(FieldList(list)) }
            return nil
        } catch {
            return error
        }
    }

    @Test func decodesASequenceOfUpdates() throws {
        var row = ItemRow(fieldCount: 5)
        let steps: [(String, [String?])] = [
            ("a|#|$|d|e", ["a", nil, "", "d", "e"]),
            ("||x||", ["a", nil, "x", "d", "e"]),
            ("^4|E", ["a", nil, "x", "d", "E"]),
            ("A|^3|", ["A", nil, "x", "d", "E"]),
            ("^5", ["A", nil, "x", "d", "E"]),
            ("|b|$|^2", ["A", "b", "", "d", "E"]),
            ("^Tb||^Tadnew|#|", ["A", "b", "new", nil, "E"]),
            ("|^Tbcyz|||$", ["A", "byz", "new", nil, ""]),
        ]
        for (list, values) in steps {
            _ = try row.apply(FieldList(list))
            #expect(row.values == values)
        }
    }

    @Test func decodesTheSpecifiedQuoteExample() throws {
        var row = ItemRow(fieldCount: 10)
        let steps: [(String, [String?])] = [
            (
                "09:30:00|18.20|0.4|17.95|18.60|18.19|18.21|#|#|$",
                ["09:30:00", "18.20", "0.4", "17.95", "18.60", "18.19", "18.21", nil, nil, ""]
            ),
            (
                "09:30:07|18.24|0.6|||18.23|18.25|||Halted",
                ["09:30:07", "18.24", "0.6", "17.95", "18.60", "18.23", "18.25", nil, nil, "Halted"]
            ),
            (
                "09:31:00|^4|18.20|18.22|||",
                ["09:31:00", "18.24", "0.6", "17.95", "18.60", "18.20", "18.22", nil, nil, "Halted"]
            ),
            (
                "09:31:30|18.31|1.0|^7",
                ["09:31:30", "18.31", "1.0", "17.95", "18.60", "18.20", "18.22", nil, nil, "Halted"]
            ),
            ("^9|$", ["09:31:30", "18.31", "1.0", "17.95", "18.60", "18.20", "18.22", nil, nil, ""]),
            (
                "09:32:10|^8|%23halt %7C 5%25, see $1",
                ["09:32:10", "18.31", "1.0", "17.95", "18.60", "18.20", "18.22", nil, nil, "#halt | 5%, see $1"]
            ),
        ]
        for (list, values) in steps {
            _ = try row.apply(FieldList(list))
            #expect(row.values == values)
        }
    }

    @Test(
        arguments: [
            ("#", nil), ("$", ""), ("%23", "#"), ("%24", "$"), ("#x", "#x"), ("%5EP", "^P"), ("a^b", "a^b"),
            ("a%7Cb", "a|b"), ("100%25", "100%"), ("x,y", "x,y"), ("a+b", "a+b"), ("l1%0D%0Al2", "l1\r\nl2"),
            ("%E2%82%AC", "€"), ("€", "€"), ("%00", "\u{0}"), ("%e2%82%ac", "€"), ("$1", "$1"),
        ] as [(String, String?)]
    )
    func decodesTokens(token: String, value: String?) throws {
        #expect(try row(token, fields: 1).values == [value])
    }

    @Test func emptyListIsOneUnchangedField() throws {
        #expect(try row("a", "", fields: 1).values == ["a"])
    }

    @Test func firstUpdateChangesAllFieldsNullOnesIncluded() throws {
        var row = ItemRow(fieldCount: 3)
        #expect(try row.apply(FieldList("a|#|$")).changed.positions == [1, 2, 3])
    }

    @Test func fieldSentAgainWithTheSameValueIsNotChanged() throws {
        var row = ItemRow(fieldCount: 4)
        _ = try row.apply(FieldList("a|#|$|x%25"))
        #expect(try row.apply(FieldList("a|#|$|x%25")).changed.isEmpty)
        #expect(try row.apply(FieldList("a|$|#|%78%25")).changed.positions == [2, 3])
    }

    @Test func canonicallyEquivalentTextsAreDifferentValues() throws {
        var row = ItemRow(fieldCount: 2)
        _ = try row.apply(FieldList("\u{E9}|e\u{301}"))
        #expect(try row.apply(FieldList("e\u{301}|%C3%A9")).changed.positions == [1, 2])
        #expect(row.values[0]?.utf8.elementsEqual("e\u{301}".utf8) == true)
        #expect(row.values[1]?.utf8.elementsEqual("\u{E9}".utf8) == true)
    }

    @Test func separatorFollowedByACombiningMarkStillSeparates() throws {
        #expect(try row("a|\u{301}b", fields: 2).values == ["a", "\u{301}b"])
    }

    @Test func fieldsBeyondTheSixtyFourthAreTracked() throws {
        var row = ItemRow(fieldCount: 130)
        _ = try row.apply(FieldList(Array(repeating: "a", count: 130).joined(separator: "|")))
        #expect(try row.apply(FieldList("^64|b|^64|c")).changed.positions == [65, 130])
    }

    @Test func patchTurnsTheFieldIntoADocumentUntilTheNextValue() throws {
        var row = ItemRow(fieldCount: 2)
        _ = try row.apply(FieldList(#"1|{"name": "A%7CB", "tags": ["x"], "qty": 3}"#))
        let patch = #"[{"op":"replace","path":"/name","value":"C%7CD"},{"op":"add","path":"/tags/-","value":"y"}]"#
        let change = try row.apply(FieldList("2|^P" + patch))
        #expect(row.values[1] == #"{"name":"C|D","tags":["x","y"],"qty":3}"#)
        #expect(change.changed.positions == [1, 2])
        #expect(
            change.patches == [
                2: #"[{"op":"replace","path":"/name","value":"C|D"},{"op":"add","path":"/tags/-","value":"y"}]"#
            ]
        )

        let unchanged = try row.apply(FieldList("3|"))
        #expect(unchanged.patches == [2: "[]"])
        #expect(unchanged.changed.positions == [1])
        #expect(try row.apply(FieldList("^2")).patches == [2: "[]"])

        #expect(try row.apply(FieldList("4|5")).patches.isEmpty)
        #expect(try row.apply(FieldList("5|")).patches.isEmpty)
        #expect(row.values == ["5", "5"])
    }

    @Test func valueEqualToTheDocumentsTextMakesItTextAgain() throws {
        var row = try row("[1]", #"^P[]"#, fields: 1)
        #expect(try row.apply(FieldList("[1]")).changed.isEmpty)
        #expect(try row.apply(FieldList("")).patches.isEmpty)
        #expect(try row.apply(FieldList("^Tb")).patches.isEmpty)
        #expect(row.values == ["["])
    }

    @Test func numbersKeepTheirTextThroughAPatch() throws {
        let row = try row(
            #"{"a":1.0,"b":12345678901234567890,"c":1e2}"#,
            #"^P[{"op":"add","path":"/d","value":0.10}]"#,
            fields: 1
        )
        #expect(row.values == [#"{"a":1.0,"b":12345678901234567890,"c":1e2,"d":0.10}"#])
    }

    @Test func impossibleListsAreErrors() {
        #expect(fault("|b|c|d|e", fields: 5) == .field(position: 1, .unchangedWithoutBaseline))
        #expect(fault("a|^4", fields: 5) == .field(position: 2, .unchangedWithoutBaseline))
        #expect(fault("a|b", fields: 5) == .fieldCountMismatch(expected: 5))
        #expect(fault("a|b|c", fields: 2) == .fieldCountMismatch(expected: 2))
        #expect(fault("a|b", "^3", fields: 2) == .fieldCountMismatch(expected: 2))
        #expect(fault("a|b", "|^2", fields: 2) == .fieldCountMismatch(expected: 2))
        #expect(fault("a|b", "^99999999999999999999", fields: 2) == .field(position: 1, .unknownToken))
        for token in ["^0", "^01", "^X1", "^", "^1x", "^-1", "^p[]"] {
            #expect(fault("a", token, fields: 1) == .field(position: 1, .unknownToken), "\(token)")
        }
        #expect(fault("a%2", fields: 1) == .field(position: 1, .malformedEscape))
        #expect(fault("%FF", fields: 1) == .field(position: 1, .invalidUTF8))
    }

    @Test func impossibleDiffsAreErrors() {
        #expect(fault("#", "^Tb", fields: 1) == .field(position: 1, .diffWithoutBase))
        #expect(fault("^Ta", fields: 1) == .field(position: 1, .diffWithoutBase))
        #expect(fault("^P[]", fields: 1) == .field(position: 1, .diffWithoutBase))
        #expect(fault("#", "^P[]", fields: 1) == .field(position: 1, .diffWithoutBase))
        #expect(fault("abc", "^Te", fields: 1) == .field(position: 1, .malformedDiff))
        #expect(fault("not json", "^P[]", fields: 1) == .field(position: 1, .baseNotJSON))
        #expect(fault("{}", "^P[", fields: 1) == .field(position: 1, .patchFailed))
        #expect(fault("{}", #"^P[{"op":"remove","path":"/a"}]"#, fields: 1) == .field(position: 1, .patchFailed))
        #expect(fault("{}", "^P[]", "^Ta", fields: 1) == .field(position: 1, .diffOnDocument))
    }

    /// As with the JSON libraries of servers and of other clients.
    @Test func lastMemberOfAnEqualNameCounts() throws {
        let document = #"{"a":{"x":1},"b":{"c":1,"c":2},"a":{"y":1}}"#
        for (patch, result) in [
            (#"{"op":"add","path":"/a/z","value":3}"#, #"{"a":{"y":1,"z":3},"b":{"c":2}}"#),
            (#"{"op":"remove","path":"/a"}"#, #"{"b":{"c":2}}"#),
            (#"{"op":"replace","path":"/b","value":{"d":1,"d":2}}"#, #"{"a":{"y":1},"b":{"d":2}}"#),
        ] {
            #expect(try row(document, "^P[\(patch)]", fields: 1).values == [result])
        }
        let many = (0..<60).map { "\"n\($0 % 20)\":\($0)" }.joined(separator: ",")
        let last = (40..<60).map { "\"n\($0 % 20)\":\($0)" }.joined(separator: ",")
        #expect(try row("{\(many)}", "^P[]", fields: 1).values == ["{\(last)}"])
    }

    @Test func randomListsNeverTrap() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            var row = ItemRow(fieldCount: Int.random(in: 0...6, using: &generator))
            for _ in 0..<3 {
                let list = FieldList(generator.bytes(from: "||||^^^#$%25TPab1234[]{}\"", upTo: 16)[...])
                guard let change = try? row.apply(list) else { break }
                #expect(change.changed.positions.allSatisfy { $0 <= row.values.count }, "seed \(seed)")
            }
        }
    }

    @Test(arguments: ["^Ta", #"^P[{"op":"replace","path":"/0","value":1}]"#])
    func largeValuesAcceptNoDiffs(diff: String) throws {
        var row = ItemRow(fieldCount: 1)
        let text = "[1" + String(repeating: " ", count: ItemRow.largestDiffBase - 3) + "]"
        _ = try row.apply(FieldList(text))
        #expect(throws: Never.self) {
            var copy = row
            _ = try copy.apply(FieldList(diff))
        }
        _ = try row.apply(FieldList(text + " "))
        #expect(throws: TLCPError.field(position: 1, .baseTooLarge)) { _ = try row.apply(FieldList(diff)) }
    }

    @Test func diffsOfOneUpdateChangeABoundedSumOfValues() throws {
        var row = ItemRow(fieldCount: 5)
        let value = String(repeating: "x", count: ItemRow.largestDiffBase)
        _ = try row.apply(FieldList(Array(repeating: value, count: 5).joined(separator: "|")))
        var other = row
        #expect(throws: TLCPError.field(position: 5, .baseTooLarge)) {
            _ = try other.apply(FieldList("^Tb|^Tb|^Tb|^Tb|^Tb"))
        }
        #expect(throws: Never.self) {
            _ = try row.apply(FieldList("^Tb|^Tb|^Tb|^Tb|"))
            _ = try row.apply(FieldList("|^Tb|^Tb|^Tb|^Tb"))
        }
        #expect(row.values == ["x", "x", "x", "x", "x"])
    }

    @Test func patchesOfOneUpdateShareTheirBudget() throws {
        let document = #"{"a":""# + String(repeating: "x", count: 1 << 18) + #""}"#
        var row = try row(document + "|" + document, fields: 2)
        let copy = #"{"op":"copy","from":"/a","path":"/b"}"#
        let patch = "^P[" + Array(repeating: copy, count: 40).joined(separator: ",") + "]"
        var other = row
        #expect(throws: Never.self) { _ = try other.apply(FieldList(patch + "|")) }
        #expect(throws: TLCPError.field(position: 2, .patchFailed)) {
            _ = try row.apply(FieldList(patch + "|" + patch))
        }
    }
}

extension FieldList {
    /// Wraps the bytes of a text.
    init(_ text: String) { self.init(Array(text.utf8)[...]) }
}
