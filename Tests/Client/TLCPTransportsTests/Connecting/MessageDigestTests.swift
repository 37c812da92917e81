import Crypto
import TLCPTransports
import Testing

/// Hash functions, against another implementation.
struct MessageDigestTests {
    @Test func hashesAreThoseOfAnotherImplementation() {
        for count in Array(0..<200) + [1000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            #expect(MessageDigest.md5.hash(bytes) == Array(Insecure.MD5.hash(data: bytes)), "\(count)")
            #expect(MessageDigest.sha1.hash(bytes) == Array(Insecure.SHA1.hash(data: bytes)), "\(count)")
            #expect(MessageDigest.sha256.hash(bytes) == Array(SHA256.hash(data: bytes)), "\(count)")
        }
    }
}
