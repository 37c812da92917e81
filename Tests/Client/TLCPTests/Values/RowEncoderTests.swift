internal import JSONText
internal import TestSupport
internal import Testing

@testable internal import TLCP

struct RowEncoderTests {
    private func text(_ list: FieldList) -> String { String(decoding: list.bytes, as: UTF8.self) }

    @Test func encodesASequenceOfRows() {
        var encoder = RowEncoder()
        #expect(text(encoder.encode(["a", nil, "", "d", "e"])) == "a|#|$|d|e")
        #expect(text(encoder.encode(["a", nil, "x", "d", "e"])) == "||x||")
        #expect(text(encoder.encode(["a", nil, "x", "d", "E"])) == "^4|E")
        #expect(text(encoder.encode(["A", nil, "x", "d", "E"])) == "A|^4")
        #expect(text(encoder.encode(["A", nil, "x", "d", "E"])) == "^5")
        #expect(text(encoder.encode(["A", nil, "x", "d", "F"])) == "^4|F")
    }

    @Test func longRunsInTheMiddleAndAtTheEndAreCounted() {
        var encoder = RowEncoder()
        _ = encoder.encode(["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
        #expect(text(encoder.encode(["x", "2", "3", "4", "5", "y", "7", "8", "9", "10"])) == "x|^4|y|^4")
        #expect(text(encoder.encode(["x", "2", "3", "4", "5", "y", "7", "z", "9", "10"])) == "^7|z||")
    }

    @Test(arguments: [
        ("#", "%23"), ("$", "%24"), ("^P", "%5EP"), ("a^b", "a^b"), ("a|b", "a%7Cb"), ("100%", "100%25"),
        ("x,y", "x,y"), ("a+b", "a+b"), ("l1\r\nl2", "l1%0D%0Al2"), ("€", "€"), ("\u{0}", "%00"), ("#x", "%23x"),
        ("a#b", "a#b"), ("$1", "%241"),
    ])
    func escapesValues(value: String, token: String) {
        var encoder = RowEncoder()
        #expect(text(encoder.encode([value])) == token)
    }

    @Test func canonicallyEquivalentTextIsSent() {
        var encoder = RowEncoder()
        _ = encoder.encode(["\u{E9}"])
        #expect(encoder.encode(["e\u{301}"]).bytes.elementsEqual("e\u{301}".utf8))
    }

    @Test func usesADiffOnlyWhereItIsAllowedAndShorter() {
        let old = "price=10.25;ccy=EUR;venue=somewhere"
        let new = "price=10.99;ccy=EUR;venue=somewhere"
        var encoder = RowEncoder()
        _ = encoder.encode([old, old, "ab", old])
        let list = encoder.encode(
            [new, new, "ac", new],
            diffs: .tlcpDiff,
            fieldDiffs: [2: []],
            minimumLength: 3
        )
        #expect(text(list) == "^Tjc99cy|\(new)|ac|^Tjc99cy")
    }

    @Test func firstRowHasNoDiffs() {
        var encoder = RowEncoder()
        #expect(text(encoder.encode([#"{"a":1}"#], diffs: .all)) == #"{"a":1}"#)
    }

    @Test func afterAPatchTheFieldIsNotDiffedBeforeAFullValue() throws {
        func document(_ price: Int) -> String {
            #"{"name":"something long enough","note":"and longer still, so that it pays","nested":{"a":[1,2,3]},"price":\#(price)}"#
        }
        var encoder = RowEncoder()
        var row = ItemRow(fieldCount: 1)
        _ = try row.apply(encoder.encode([document(1)], diffs: .jsonPatch))
        let patched = encoder.encode([document(2)], diffs: .jsonPatch)
        #expect(text(patched).hasPrefix("^P"))
        _ = try row.apply(patched)
        let full = encoder.encode([document(3)], diffs: .tlcpDiff)
        #expect(text(full) == document(3))
        _ = try row.apply(full)
        let diff = encoder.encode([document(4)], diffs: .tlcpDiff)
        #expect(text(diff).hasPrefix("^T"))
        _ = try row.apply(diff)
        #expect(row.values == [document(4)])
    }

    @Test func randomRowsComeBack() throws {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let values: [String?] = [
            nil, "", "#", "$", "^", "^4", "^P[]", "a|b", "50%", "\r\n", "é", "e\u{301}", "😀", "abcabcabcabc",
            "abcabcXabcabc", #"{"a":[1,2,3],"long name":"long text"}"#, #"{"a":[1,3],"long name":"long text"}"#,
        ]
        for _ in 0..<1_000 {
            let count = Int.random(in: 1...9, using: &generator)
            let diffs = DiffFormats(rawValue: UInt8.random(in: 0...3, using: &generator))
            var encoder = RowEncoder()
            var row = ItemRow(fieldCount: count)
            for _ in 0..<6 {
                let next = (0..<count).map { field in
                    let keep = Bool.random(using: &generator) && encoder.values != nil
                    return keep ? encoder.values?[field] ?? nil : values.randomElement(using: &generator) ?? nil
                }
                _ = try row.apply(encoder.encode(next, diffs: diffs))
                for (got, sent) in zip(row.values, next) {
                    #expect(Self.means(got, sent), "seed \(seed): \(String(describing: got))")
                }
            }
        }
    }

    private static func means(_ got: String?, _ sent: String?) -> Bool {
        guard let got, let sent else { return got == nil && sent == nil }
        if got.hasSameBytes(as: sent) { return true }
        guard let left = try? JSONValue(parsing: got), let right = try? JSONValue(parsing: sent) else { return false }
        return left.isEquivalent(to: right)
    }
}
