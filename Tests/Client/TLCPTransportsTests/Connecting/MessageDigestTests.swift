import CCrypto
import TLCPTransports
import Testing

/// Hash functions, against those of OpenSSL.
struct MessageDigestTests {
    @Test(arguments: [
        (MessageDigest.md5, "MD5"), (.sha1, "SHA1"), (.sha256, "SHA256"),
    ])
    func hashesAreThoseOfAnotherImplementation(digest: MessageDigest, name: String) {
        for count in Array(0..<200) + [1000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            var expected = [UInt8](repeating: 0, count: digest.length)
            #expect(EVP_Digest(bytes, count, &expected, nil, EVP_get_digestbyname(name), nil) == 1)
            #expect(digest.hash(bytes) == expected, "\(count)")
        }
    }
}
