import Testing

@testable import Gateway

@Suite struct RequestPathTests {
    @Test(arguments: [
        ("/", []),
        ("/v1/clients", ["v1", "clients"]),
        ("/v1/a%2Fb", ["v1", "a/b"]),
        ("/v1/a+b", ["v1", "a+b"]),
        ("/v1/%252F", ["v1", "%2F"]),
        ("/v1/", ["v1", ""]),
        ("/%00", ["\0"]),
        ("/%c3%A9", ["é"]),
    ])
    func segmentsAreSplitFirstAndDecodedOnce(raw: String, segments: [String]) throws {
        #expect(try RequestPath(raw: raw).segments == segments)
    }

    @Test(arguments: ["/%", "/%4", "/%zz", "/%ff", "/%c3", "v1", "", "/a/%c0%af"])
    func whatCannotBeDecodedIsMalformed(raw: String) {
        #expect { try RequestPath(raw: raw) } throws: { ($0 as? Problem)?.code == .malformed }
    }

    @Test func encodingAndDecodingGiveTheTextBack() {
        let text = "a/b c+d%é\0~"
        let encoded = PercentDecoding.encode(text)
        #expect(PercentDecoding.decode(encoded[...].utf8, plusIsSpace: true) == text)
    }
}
