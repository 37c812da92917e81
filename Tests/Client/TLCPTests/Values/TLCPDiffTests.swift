internal import TestSupport
internal import Testing

@testable internal import TLCP

struct TLCPDiffTests {
    @Test(arguments: [
        ("price=10.25", "gc99", "price=99"),
        ("price=10.25;ccy=EUR", "gc99fi", "price=99;ccy=EUR"),
        (
            "The quick brown fox jumps over the lazy dog", "Bjetinyee",
            "The quick brown fox jumps over the tiny dog"
        ),
        ("", "adfoo", "foo"), ("planet", "d", "pla"), ("planet", "bdmixcd", "pmixnet"),
        ("planet", "admixad", "mixpla"), ("planet", "cacc", "plet"), ("orange", "cbAcb", "orAg"),
        ("abcdefghijklmnopqrstuvwxyz9", "aaBab", "9"), ("abc", "", ""), ("abc", "Ad", "abc"),
    ])
    func appliesDiffs(base: String, diff: String, result: String) {
        #expect(TLCPDiff.apply(diff, to: base) == result)
    }

    @Test(arguments: [
        ("abc", "e"), ("abc", "ae12"), ("abc", "B"), ("abc", "1"), ("abc", "aae"), ("abc", "ab"),
        ("abc", "ZZZZZZZZZZZZZZZZZZZZZZZZZZZZz"), ("abc", "é"), ("abc", "a["), ("abc", "`"),
    ])
    func refusesDiffsThatDoNotFit(base: String, diff: String) {
        #expect(TLCPDiff.apply(diff, to: base) == nil)
    }

    @Test(arguments: [
        (0, "a"), (3, "d"), (25, "z"), (26, "Ba"), (29, "Bd"), (51, "Bz"), (52, "Ca"), (675, "Zz"), (676, "BAa"),
        (1000, "BMm"), (17576, "BAAa"),
    ])
    func countsInBase26(number: Int, text: String) {
        let base = String(repeating: "x", count: number)
        #expect(TLCPDiff.apply(text, to: base) == base)
        #expect(TLCPDiff.encode(from: base, to: base) == text)
    }

    @Test func countsUTF16UnitsAndNotCharacters() {
        // The base is e, combining acute, x: three units, two characters.
        #expect(TLCPDiff.apply("c", to: "e\u{301}x")?.utf8.elementsEqual("e\u{301}".utf8) == true)
        #expect(TLCPDiff.apply("b", to: "e\u{301}x") == "e")
    }

    @Test func halfOfASurrogatePairIsRefusedAndWholePairsPass() {
        #expect(TLCPDiff.apply("b", to: "😀") == nil)
        #expect(TLCPDiff.apply("c", to: "😀") == "😀")
        #expect(TLCPDiff.encode(from: "a", to: "😀") == nil)
        #expect(TLCPDiff.encode(from: "😀", to: "a") == nil)
    }

    @Test func textBesideASCIIIsCountedAsASCIIIs() {
        let (base, diff) = ("The quick brown fox jumps over the lazy dog", "Bjetinyee")
        #expect(TLCPDiff.apply(diff, to: base) == "The quick brown fox jumps over the tiny dog")
        #expect(TLCPDiff.apply(diff, to: base + "é") == "The quick brown fox jumps over the tiny dog")
        #expect(TLCPDiff.apply("Bjedünnee", to: base) == "The quick brown fox jumps over the dünn dog")
    }

    @Test func randomTextsComeBack() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        let letters: [Character] = ["a", "b", "é", "e\u{301}", "|", "%", "1"]
        for _ in 0..<5_000 {
            let old = String(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
            )
            let new = String(
                (0..<Int.random(in: 0...40, using: &generator)).map { _ in letters.randomElement(using: &generator)! }
            )
            let result = TLCPDiff.encode(from: old, to: new).flatMap { TLCPDiff.apply($0, to: old) }
            #expect(result?.utf8.elementsEqual(new.utf8) == true, "seed \(seed)")
        }
    }

    @Test func randomDiffsNeverTrap() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20_000 {
            let diff = String(decoding: generator.bytes(from: "aaabbcdABZz", upTo: 12), as: UTF8.self)
            _ = TLCPDiff.apply(diff, to: "the base 😀 of it")
        }
    }
}

struct DiffFormatsTests {
    @Test(arguments: [("P,T", DiffFormats.all), ("T", .tlcpDiff), ("P", .jsonPatch), ("", DiffFormats())])
    func comesBackFromTheWire(wire: String, formats: DiffFormats) {
        #expect(DiffFormats(wire: wire) == formats)
        #expect(formats.wire == wire)
    }

    @Test func namesThatAreNotKnownAreLeftOut() {
        #expect(DiffFormats(wire: "X,T,p,,PT") == .tlcpDiff)
    }
}
