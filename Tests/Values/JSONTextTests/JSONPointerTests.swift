internal import Testing

@testable internal import JSONText

struct JSONPointerTests {
    static let document: JSONValue = [
        "": "empty", "list": ["zero", ["inner"]], "a/b": 1, "m~n": 2, " ": 3, "~1": 4, "é": 5, "0": 6,
    ]

    @Test(arguments: [
        ("", document), ("/", "empty"), ("/list/0", "zero"), ("/list/1/0", "inner"), ("/a~1b", 1), ("/m~0n", 2),
        ("/ ", 3), ("/~01", 4), ("/é", 5), ("/0", 6),
    ])
    func findsPlaces(text: String, value: JSONValue) throws {
        let pointer = try #require(JSONPointer(text))
        #expect(Self.document.value(at: pointer) == value)
        #expect(pointer.description == text)
    }

    @Test(arguments: ["/x", "/list/2", "/list/-", "/list/00", "/list/-1", "/list/+0", "/list/0/0", "/list/1e0", "//"])
    func findsNothingElsewhere(text: String) throws {
        #expect(Self.document.value(at: try #require(JSONPointer(text))) == nil)
    }

    @Test(arguments: ["a", "a/b", "/~", "/~2", "/a~", "#/a"])
    func refusesMalformedTexts(text: String) {
        #expect(JSONPointer(text) == nil)
    }

    @Test func namesAreComparedByBytes() {
        #expect(Self.document.value(at: JSONPointer(tokens: ["e\u{301}"])) == nil)
        #expect(JSONPointer(tokens: ["e\u{301}"]) != JSONPointer(tokens: ["\u{E9}"]))
    }

    @Test func slashFollowedByACombiningMarkStillSeparates() {
        #expect(JSONPointer("/a/\u{301}b")?.tokens.count == 2)
    }
}
