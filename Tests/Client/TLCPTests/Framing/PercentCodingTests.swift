internal import TestSupport
internal import Testing

@testable internal import TLCP

struct PercentCodingTests {
    @Test(arguments: [
        ("item1 item2", "item1%20item2"), ("a&b=c%d+e", "a%26b%3Dc%25d%2Be"), ("line1\r\nline2", "line1%0D%0Aline2"),
        ("caffè €5", "caff%C3%A8%20%E2%82%AC5"), ("😀", "%F0%9F%98%80"),
        ("mgQkwtwdysogQz2BJ4Ji kOj2Bg", "mgQkwtwdysogQz2BJ4Ji%20kOj2Bg"), ("", ""), ("-._~", "-._~"),
        ("!'()*", "%21%27%28%29%2A"),
    ])
    func encodesParameters(value: String, wire: String) {
        var bytes: [UInt8] = []
        PercentCoding.encode(parameter: value, into: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == wire)
        #expect(PercentCoding.decode(parameter: bytes[...]) == value)
    }

    @Test func everyOneByteScalarRoundTrips() throws {
        let text = String(String.UnicodeScalarView((0..<0x80).compactMap(Unicode.Scalar.init)))
        var parameter: [UInt8] = []
        PercentCoding.encode(parameter: text, into: &parameter)
        #expect(PercentCoding.decode(parameter: parameter[...]) == text)
        var argument: [UInt8] = []
        PercentCoding.encode(argument: text, into: &argument)
        #expect(try PercentCoding.decode(argument[...]) == text)
    }

    @Test func plusIsASpaceInRequestsOnly() throws {
        let bytes = Array("a+b".utf8)
        #expect(PercentCoding.decode(parameter: bytes[...]) == "a b")
        #expect(try PercentCoding.decode(bytes[...]) == "a+b")
    }

    @Test(arguments: ["%", "%2", "%G1", "%1G", "a%", "%%20"])
    func refusesMalformedEscapes(text: String) {
        let bytes = Array(text.utf8)
        #expect(PercentCoding.decode(parameter: bytes[...]) == nil)
        #expect(throws: TLCPError.malformedEscape) { try PercentCoding.decode(bytes[...]) }
    }

    @Test func slicesAreReadWithinTheirBounds() throws {
        let bytes = Array("xx%41%4".utf8)
        #expect(try PercentCoding.decode(bytes[2..<5]) == "A")
        #expect(throws: TLCPError.malformedEscape) { try PercentCoding.decode(bytes[5...]) }
        #expect(throws: TLCPError.malformedEscape) { try PercentCoding.decode(bytes[2..<4]) }
    }
}
