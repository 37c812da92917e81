internal import TestSupport
internal import Testing

@testable internal import JSONText

struct JSONParserTests {
    private func reason(_ text: String, maxDepth: Int = JSONValue.maxDepth) -> JSONParseError.Reason? {
        reason(Array(text.utf8), maxDepth: maxDepth)
    }

    private func reason(_ bytes: [UInt8], maxDepth: Int = JSONValue.maxDepth) -> JSONParseError.Reason? {
        do throws(JSONParseError) {
            _ = try JSONValue(parsing: bytes, maxDepth: maxDepth)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        arguments: [
            ("null", .null), ("true", true), ("false", false), ("0", 0), (" \t\r\n-12 ", -12), (#""a""#, "a"),
            ("[]", []),
            ("[ ]", []), ("{}", [:]), ("[1,[2,[]],{}]", [1, [2, []], [:]]),
            (#"{"a":{"b":[null]}}"#, ["a": ["b": [nil]]]),
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u00e9\u20AC\ud83d\uDE00""#, "é€😀"),
            (#""\u0000""#, "\u{0}"), (#""é😀""#, "é😀"), (#"{"":""}"#, ["": ""]),
            ("\"\u{7F}\u{2028}\"", "\u{7F}\u{2028}"),
        ] as [(String, JSONValue)]
    )
    func readsValues(text: String, value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: [
        "0", "-0", "1", "10", "-1.5", "1.0", "0.10", "1e5", "1E+05", "1e-400", "123456789012345678901234567890",
    ])
    func keepsTheTextOfNumbers(text: String) throws {
        #expect(try JSONValue(parsing: text).number?.text == text)
        #expect(JSONNumber(text)?.text == text)
        #expect(try JSONValue(parsing: "[\(text)]").text == "[\(text)]")
    }

    @Test(arguments: [
        "01", "-", "+1", "1.", ".5", "1e", "1e+", "0x1", "--1", "1.e3", "-a", "00", "NaN", "Infinity", "1_0",
    ])
    func refusesWhatIsNoNumber(text: String) {
        #expect(reason(text) != nil)
        #expect(JSONNumber(text) == nil)
    }

    @Test(arguments: [
        "", " ", "[", "]", "[1", "[1,", "[1,]", "[,1]", "[1 2]", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
        "{a:1}",
        "{'a':1}", "{\"a\" 1}", "{1:2}", "nul", "nulll", "True", "tru", "\"", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"",
        "\"\\u12G4\"", "1 2", "[]]", "// c", "[1]//", "\u{FEFF}1", "\"\t\"", "\"\n\"", "\"\u{1F}\"", "\u{B}1", "'a'",
    ])
    func refusesWhatIsNotJSON(text: String) {
        #expect(reason(text) != nil)
    }

    @Test(arguments: [#""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#])
    func refusesHalvesOfSurrogatePairs(text: String) {
        #expect(reason(text) == .loneSurrogate)
    }

    @Test(
        arguments: [[0xC3], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80]] as [[UInt8]]
    )
    func refusesBytesThatAreNotUTF8(bytes: [UInt8]) {
        #expect(reason([0x22] + bytes + [0x22]) == .invalidUTF8)
        #expect(reason(Array(#""\n"#.utf8) + bytes + [0x22]) == .invalidUTF8)
        #expect(reason(bytes) != nil)
    }

    @Test func depthIsLimited() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(reason(nested(128)) == nil)
        #expect(reason(nested(129)) == .tooDeep(limit: 128))
        #expect(reason("[[]]", maxDepth: 1) == .tooDeep(limit: 1))
        #expect(reason("1", maxDepth: 0) == nil)
        #expect(reason(String(repeating: "[{\"a\":", count: 500_000)) == .tooDeep(limit: 128))
    }

    @Test func duplicateNamesAreRefused() {
        let text = #"{"a":1,"b":2,"\u0061":3}"#
        #expect(reason(text) == .duplicateName("a"))
        let many = (0..<40).map { "\"n\($0)\":0" }.joined(separator: ",")
        #expect(reason("{\(many)}") == nil)
        #expect(reason("{\(many),\"n39\":0}") == .duplicateName("n39"))
        #expect(reason("{\(many),\"n3\":0}") == .duplicateName("n3"))
    }

    @Test func canonicallyEquivalentNamesAreDifferentNames() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
        #expect(JSONValue.string("\u{E9}") != .string("e\u{301}"))
        #expect(!JSONValue.string("\u{E9}").isEquivalent(to: .string("e\u{301}")))
    }

    @Test(arguments: [
        ("[1,\n 2,\n  x]", 3, 3), ("{\"a\":1,\"a\":2}", 1, 8), ("[1] 2", 1, 5), ("[1", 1, 3), ("\n\n", 3, 1),
        ("[\"a\\q\"]", 1, 4),
    ])
    func errorsHaveALineAndAColumn(text: String, line: Int, column: Int) {
        let error = #expect(throws: JSONParseError.self) { try JSONValue(parsing: text) }
        #expect(error?.line == line)
        #expect(error?.column == column)
    }

    @Test func aByteOrderMarkIsNamed() {
        #expect(reason("\u{FEFF}{}") == .byteOrderMark)
        #expect(reason("\u{FEFD}{}") == .unexpectedByte(0xEF))
        #expect(reason(" \u{FEFF}{}") == .unexpectedByte(0xEF))
    }

    @Test func everyCutOfATextIsRefused() {
        let text = Array(#"{"a":[1.5e3,true,"\u00e9x"],"b":null}"#.utf8)
        #expect(reason(text) == nil)
        for length in text.indices { #expect(reason(Array(text[..<length])) != nil) }
    }

    @Test func randomTextsNeverTrapAndAcceptedOnesComeBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<30_000 {
            let bytes = generator.bytes(from: "[]{}\",:0123.eE-+\\u tfn", upTo: 14)
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            #expect(try JSONValue(parsing: value.text) == value, "seed \(seed)")
        }
    }
}
