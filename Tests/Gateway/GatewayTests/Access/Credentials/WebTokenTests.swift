import Testing

@testable import Gateway

@Suite struct Base64URLTests {
    @Test func everyLengthReadsBack() {
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
    }

    @Test func theVectorsOfTheSpecificationHold() {
        #expect(Base64URL.encode("f".utf8) == "Zg")
        #expect(Base64URL.encode("foobar".utf8) == "Zm9vYmFy")
        #expect(Base64URL.encode([0xFB, 0xFF] as [UInt8]) == "-_8")
    }

    @Test(arguments: ["A", "AAAAA", "Zh", "Zg==", "Zg=", "+A", "/A", "Z g", "Zg\n"])
    func otherTextsAreRefused(text: String) {
        #expect(Base64URL.decode(text.utf8) == nil)
    }
}
