internal import TestSupport
internal import Testing

@testable internal import TLCP

struct WireNumberTests {
    @Test(arguments: [
        (5.0, "5.0"), (0.5, "0.5"), (12.25, "12.25"), (1e16, "10000000000000000.0"), (1.5e18, "1500000000000000000.0"),
        (1e-7, "0.0000001"), (2.5e-6, "0.0000025"), (0, "0.0"), (-1e17, "-100000000000000000.0"),
    ])
    func writesDecimalsWithoutExponent(value: Double, text: String) {
        #expect(WireNumber.text(value) == text)
    }

    @Test func randomDecimalsComeBack() {
        let seed = UInt64.random(in: 0 ... .max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let value = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator)).magnitude
            guard value.isFinite else { continue }
            #expect(WireNumber.decimal(WireNumber.text(value)) == value, "seed \(seed)")
        }
    }

    @Test(arguments: ["", ".", "1.", ".5", "1e3", "+1", "-1", "0x1", "nan", "inf", "1.2.3", " 1", "1 "])
    func refusesWhatIsNoDecimal(text: String) {
        #expect(WireNumber.decimal(text) == nil)
    }

    @Test func refusesNumbersOutOfRange() {
        #expect(WireNumber.count(Array("9223372036854775807".utf8)[...]) == Int.max)
        #expect(WireNumber.count(Array("9223372036854775808".utf8)[...]) == nil)
        #expect(WireNumber.integer(Array("-9223372036854775807".utf8)[...]) == -Int.max)
        #expect(WireNumber.integer(Array("--1".utf8)[...]) == nil)
        #expect(WireNumber.integer(Array("-".utf8)[...]) == nil)
    }
}
