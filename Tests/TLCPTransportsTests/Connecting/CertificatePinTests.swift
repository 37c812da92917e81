internal import Testing

@testable internal import TLCPTransports

@Suite struct CertificatePinTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func sha256MatchesThePublishedVectors(message: String, digest: String) {
        #expect(hex(SHA256.digest(of: Array(message.utf8))) == digest)
    }

    @Test(arguments: [
        ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"), ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1"
        ),
    ])
    func sha1MatchesThePublishedVectors(message: String, digest: String) {
        #expect(hex(SHA1.digest(of: Array(message.utf8))) == digest)
    }

    @Test(arguments: [0, 1, 2, 3, 4, 5, 31, 32])
    func base64GoesBackAndForth(count: Int) {
        let bytes = (0..<count).map { UInt8($0 * 7 & 255) }
        #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
    }

    @Test(arguments: ["a", "ab=", "a===", "====", "ab\u{E9}=", "a=bc", "ab c"])
    func malformedBase64IsRefused(text: String) {
        #expect(Base64.decode(text.utf8) == nil)
    }

    @Test(arguments: [
        "", "sha256", "sha256/", "md5/AAAA", "sha1/6PiNxl0ukOH6FqI56ynlwGGoAnl=", "sha256/AAAA",
        "sha1/" + TestIdentity.sha256Pin.dropFirst(7),
    ])
    func pinsOfAnotherShapeAreRefused(text: String) {
        #expect(CertificatePin(text) == nil)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
