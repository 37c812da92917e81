internal import Testing

@testable internal import TLCPTransports

@Suite struct CertificatePinTests {
    @Test(arguments: [
        ("sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", ""),
        ("sha256/ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", "abc"),
        (
            "sha256/JI1qYdIGOLjlwCaTDD5gOaM85Flk/yFn9uzt1BnbBsE=",
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"
        ),
        ("sha1/2jmj7l5rSw0yVb/vlWAYkK/YBwk=", ""),
        ("sha1/qZk+NkcGgWq6PiVxeFDCbJzQ2J0=", "abc"),
        ("sha1/hJg+RBw70m66rkqh+VEp5eVGcPE=", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
    ])
    func pinMatchesTheKeyWithItsDigestOnly(text: String, key: String) throws {
        let pin = try #require(CertificatePin(text))
        #expect(pin.matches(publicKeyInfo: Array(key.utf8)))
        #expect(!pin.matches(publicKeyInfo: Array(key.utf8) + [0]))
    }

    @Test(arguments: ["a", "ab=", "a===", "====", "ab\u{E9}=", "a=bc", "ab c"])
    func malformedBase64IsRejected(text: String) {
        #expect(CertificatePin("sha1/\(text)") == nil)
    }

    @Test(arguments: [
        "", "sha256", "sha256/", "md5/AAAA", "sha1/6PiNxl0ukOH6FqI56ynlwGGoAnl=", "sha256/AAAA",
        "sha1/" + TestIdentity.sha256Pin.dropFirst(7),
    ])
    func pinsOfAnotherShapeAreRefused(text: String) {
        #expect(CertificatePin(text) == nil)
    }
}
