internal import Testing

@testable internal import TLCPTransports

@Suite struct ResponseHeadReaderTests {
    private static let response = Array("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching\r\nA: b\r\n\r\nrest".utf8)

    /// The bytes behind the head, received in pieces of these lengths; nil if no head is complete.
    private static func rest(_ lengths: some Sequence<Int>) throws -> String? {
        var reader = ResponseHeadReader()
        var position = 0
        for length in lengths where position < response.count {
            let end = min(response.count, position + length)
            if let rest = try reader.feed(Array(response[position..<end]))?.rest {
                return String(decoding: rest + response[end...], as: UTF8.self)
            }
            position = end
        }
        return nil
    }

    @Test func aHeadIsReadWhereverItIsDivided() throws {
        for split in 1..<Self.response.count {
            #expect(try Self.rest([split, Self.response.count]) == "rest")
        }
        for length in 1...5 {
            #expect(try Self.rest(repeatElement(length, count: Self.response.count)) == "rest")
        }
    }

    @Test func aHeadWithoutAnEndIsBounded() {
        var reader = ResponseHeadReader()
        #expect(throws: DialFailure.self) {
            for _ in 0...ResponseHeadReader.maxLength / 1024 {
                guard try reader.feed([UInt8](repeating: 0x41, count: 1024)) == nil else { return }
            }
        }
    }
}
