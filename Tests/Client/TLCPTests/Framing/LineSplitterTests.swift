internal import TestSupport
internal import Testing

@testable internal import TLCP

struct LineSplitterTests {
    /// The incomplete line.
    private func rest(_ splitter: inout LineSplitter) -> String? {
        splitter.endMessage().map { String(decoding: $0, as: UTF8.self) }
    }

    private func lines(_ chunks: [ArraySlice<UInt8>], _ splitter: inout LineSplitter) throws -> [String] {
        try chunks.flatMap { try splitter.feed($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test(arguments: [
        "CONOK,S1,50000,5000,*\r\nPROBE\r\n\r\nU,1,1,caffè 😀|b\r\n", "\r\n\r\n", "a\rb\nc\r\r\n\n\r\n", "x\r\n",
    ])
    func givesTheSameLinesAtEverySplit(text: String) throws {
        var whole = LineSplitter()
        let expected = try lines([Array(text.utf8)[...]], &whole)
        for chunks in EverySplit.of(text) {
            var splitter = LineSplitter()
            #expect(try lines(chunks, &splitter) == expected)
            #expect(rest(&splitter) == nil)
        }
    }

    @Test func cutsAtCRLFOnly() throws {
        var splitter = LineSplitter()
        #expect(try lines([Array("a\rb\nc\r\r\n\n\r\n".utf8)[...]], &splitter) == ["a\rb\nc\r", "\n"])
    }

    @Test func keepsAnUnterminatedLineUntilItEnds() throws {
        var splitter = LineSplitter()
        #expect(try lines([Array("PRO".utf8)[...]], &splitter).isEmpty)
        #expect(try lines([Array("BE\r\nx".utf8)[...]], &splitter) == ["PROBE"])
        #expect(rest(&splitter) == "x")
        #expect(rest(&splitter) == nil)
    }

    @Test func endOfMessageEndsTheLine() throws {
        var splitter = LineSplitter()
        #expect(try lines([Array("WSOK\r\nPROBE".utf8)[...]], &splitter) == ["WSOK"])
        #expect(rest(&splitter) == "PROBE")
        #expect(rest(&splitter) == nil)
    }

    @Test func lineOfTheGreatestLengthPassesAtEverySplit() throws {
        for chunks in EverySplit.of("12345678\r\n") {
            var splitter = LineSplitter(maxLineLength: 8)
            #expect(try lines(chunks, &splitter) == ["12345678"])
        }
    }

    @Test func tooLongLineFailsAtEverySplitAndIsForgotten() {
        for chunks in EverySplit.of("123456789\r\n") {
            var splitter = LineSplitter(maxLineLength: 8)
            #expect(throws: TLCPError.lineTooLong(limit: 8)) { try lines(chunks, &splitter) }
            #expect(rest(&splitter) == nil)
        }
    }

    @Test func endlessLineIsNotCollectedBeyondTheLimit() {
        var splitter = LineSplitter(maxLineLength: 100)
        #expect(throws: TLCPError.lineTooLong(limit: 100)) {
            for _ in 0..<200 { _ = try splitter.feed([0x61]) }
        }
    }
}
