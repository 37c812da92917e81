internal import Testing

@testable internal import TLCP

struct UpstreamNameTests {
    @Test func canonicallyEquivalentNamesDiffer() {
        let composed: UpstreamName = "\u{E9}X"
        let decomposed: UpstreamName = "e\u{301}X"
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, "\u{E9}X"]).count == 2)
        #expect(["\u{E9}", "e\u{301}"].firstIndex(ofName: "e\u{301}") == 1)
        #expect(!["\u{E9}"].hasSameNames(as: ["e\u{301}"]))
    }

    @Test(arguments: [
        ("item1 item2", ["item1", "item2"]), ("", [""]), (" a  b", ["", "a", "", "b"]),
        // Characters that combine with an adjacent space do not hide it.
        ("item1\u{600} secret", ["item1\u{600}", "secret"]), ("item1 \u{301}secret", ["item1", "\u{301}secret"]),
        ("a\u{A0}b", ["a\u{A0}b"]),
    ])
    func groupsAreSplitAtTheSpaceByte(group: String, names: [String]) {
        #expect(UpstreamName.split(group).hasSameNames(as: names))
    }
}
