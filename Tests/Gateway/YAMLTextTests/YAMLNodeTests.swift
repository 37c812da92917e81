internal import Testing
internal import YAMLText

@Suite struct YAMLNodeTests {
    /// The text of a node: plain scalars as they are, quoted ones in quotation marks.
    private func text(_ node: YAMLNode?) -> String {
        switch node?.content {
        case nil: "nothing"
        case .scalar(let text, let isPlain): isPlain ? text : "\"\(text)\""
        case .sequence(let elements): "[" + elements.map(text).joined(separator: ", ") + "]"
        case .mapping(let members): "{" + members.map { "\(text($0)): \(text($1))" }.joined(separator: ", ") + "}"
        }
    }

    @Test(arguments: [
        ("", "nothing"), ("# no value\n", "nothing"), ("---\n", ""),
        ("a: 1\nb: [x, 'y', \"z\\n\"]\n", "{a: 1, b: [x, \"y\", \"z\n\"]}"),
        ("{\"a\": {\"b\": [true, null]}}", "{\"a\": {\"b\": [true, null]}}"),
        ("a: |\n  two\n  lines\nb:\n- c: d\n- e", "{a: \"two\nlines\n\", b: [{c: d}, e]}"),
        ("a: !!str 5", "{a: \"5\"}"), ("\u{FEFF}a: ü", "{a: ü}"),
        ("a: &x {b: 1}\nc: *x", "{a: {b: 1}, c: {b: 1}}"),
    ])
    func documentsAreRead(yaml: String, tree: String) throws {
        #expect(text(try YAMLNode(parsing: yaml)) == tree)
    }

    @Test func nodesKnowTheirLines() throws {
        guard case .mapping(let members) = try YAMLNode(parsing: "a: 1\n\nb:\n  - c\n")?.content else {
            Issue.record("not a mapping")
            return
        }
        #expect(members.map(\.name.line) == [1, 3] && members.map(\.value.line) == [1, 4])
    }

    @Test(arguments: [
        ("~", true), ("", true), ("null", true), ("Null", true), ("'null'", false), ("nil", false), ("[]", false),
    ])
    func nullIsPlain(value: String, isNull: Bool) throws {
        guard case .mapping(let members) = try YAMLNode(parsing: "a: \(value)")?.content else {
            Issue.record("not a mapping")
            return
        }
        #expect(members.first?.value.isNull == isNull)
    }

    @Test(arguments: [
        ("a: 1\nb: [", 3), ("a: 'x", 1), ("a: 1\na: 2", 2), ("a: *x", 1), ("a: 1\n---\nb: 2", 2), ("a:\n\t- b", 2),
        ("a: 1\nb: \u{1}", 2),
    ])
    func mistakesHaveTheirLines(yaml: String, line: Int) {
        #expect { try YAMLNode(parsing: yaml) } throws: { ($0 as? YAMLError)?.line == line }
    }

    /// The reasons were those of the parser, such as "found character that cannot start any token"; `a: !x` was an empty text.
    @Test(arguments: [
        ("a:\n\tb: 1", "column 1: a tab in the indentation"), ("ä:\r\n  \tb: 1", "column 3: a tab in the indentation"),
        ("a:\n  b: c\n\td: 1", "column 1: a tab in the indentation"),
        ("- &a b: 'c'\n   d: 1", "column 4: while parsing a block mapping in line 1, column 3"),
        ("a: *", "column 4: text that begins with *"), ("a: [*, b*]", "column 5: text that begins with *"),
        ("a: @x", "column 4: text that begins with *"), ("a: %x", "column 4: text that begins with *"),
        ("a: !x", "column 4: text that begins with *"), ("a: ! x", "column 4: text that begins with *"),
        ("a: *x", "column 4: an alias without anchor; text that begins with *"),
        ("a: 1\n b: 2", "column 3: a key is not expected here: correct the indentation"),
        ("a: b: c", "column 5: a key is not expected here: correct the indentation"),
    ])
    func frequentMistakesHaveTheirCure(yaml: String, reason: String) {
        #expect { try YAMLNode(parsing: yaml) } throws: { ($0 as? YAMLError)?.reason.hasPrefix(reason) ?? false }
    }

    @Test func nestingIsBounded() throws {
        _ = try YAMLNode(parsing: String(repeating: "[", count: 99) + String(repeating: "]", count: 99))
        #expect(throws: YAMLError(line: 1, reason: "column 101: more than 100 levels")) {
            try YAMLNode(parsing: String(repeating: "[", count: 101))
        }
    }

    /// Each line has the one before it 60 levels deeper, as a value or in a name. A thousand such lines took the whole stack.
    @Test(arguments: [("[", "]"), ("{? ", ": 1}")])
    func nestingOfAliasesIsBounded(start: String, end: String) {
        let lines = (1...2).map {
            "a\($0): &a\($0) \(String(repeating: start, count: 60))*a\($0 - 1) \(String(repeating: end, count: 60))"
        }
        let column = 9 + 60 * start.count
        #expect(throws: YAMLError(line: 3, reason: "column \(column): more than 100 levels")) {
            try YAMLNode(parsing: (["a0: &a0 x"] + lines).joined(separator: "\n"))
        }
    }

    /// Each line repeats the one before it ten times.
    @Test func aliasesOfAliasesAreBounded() {
        let lines = (1...9).map {
            "a\($0): &a\($0) [\(Array(repeating: "*a\($0 - 1)", count: 10).joined(separator: ", "))]"
        }
        #expect(throws: YAMLError(line: 7, reason: "column 5: more than 1000000 values")) {
            try YAMLNode(parsing: (["a0: &a0 x"] + lines).joined(separator: "\n"))
        }
    }
}
