import Cryptography
import TLCPTransports
import Testing

/// Hashes and sealed bytes, against another implementation and published values.
struct HashTests {
    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 1000, 1 << 20])
    func hashesAndCodesAreThoseOfAnotherImplementation(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(SHA256.hash(bytes) == MessageDigest.sha256.hash(bytes))
        for key in [[], [1, 2, 3], [UInt8](repeating: 9, count: 100)] as [[UInt8]] {
            #expect(SHA256.code(of: bytes, key: key) == Self.code(of: bytes, key: key))
        }
    }

    /// HMAC as RFC 2104 section 2 defines it.
    private static func code(of bytes: [UInt8], key: [UInt8]) -> [UInt8] {
        let short = key.count > 64 ? MessageDigest.sha256.hash(key) : key
        let block = short + [UInt8](repeating: 0, count: 64 - short.count)
        let inner = MessageDigest.sha256.hash(block.map { $0 ^ 0x36 } + bytes)
        return MessageDigest.sha256.hash(block.map { $0 ^ 0x5C } + inner)
    }

    @Test func hashesAreComparedAsAWhole() {
        let hash = SHA256.hash([1])
        #expect(SHA256.areEqual(hash, SHA256.hash([1])))
        #expect(!SHA256.areEqual(hash, SHA256.hash([2])))
        #expect(!SHA256.areEqual(hash, Array(hash.dropLast())))
        #expect(!SHA256.areEqual(hash, []))
        #expect(SHA256.areEqual([], []))
    }

    @Test(arguments: [0, 1, 16, 1000])
    func sealedBytesOpen(count: Int) throws {
        let box = SealedBox(key: [UInt8](repeating: 5, count: 32))
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for context in [[], [7, 8]] as [[UInt8]] {
            let sealed = try #require(box.seal(bytes, context: context))
            #expect(sealed.count == 12 + count + 16)
            #expect(box.open(sealed, context: context) == bytes)
        }
    }

    /// Test case 16 of the submission of the mode to NIST.
    @Test func publishedBytesOpen() {
        let key = Self.bytes("feffe9928665731c6d6a8f9467308308")
        let sealed = Self.bytes(
            """
            cafebabefacedbaddecaf888522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838\
            c5f61e6393ba7a0abcc9f66276fc6ece0f4e1768cddf8853bb2d551b
            """
        )
        let opened = Self.bytes(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """
        )
        let context = Self.bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        #expect(SealedBox(key: key + key).open(sealed, context: context) == opened)
    }

    private static func bytes(_ digits: String) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...($0 + 1)]), radix: 16) }
    }

    @Test func changedBytesDoNotOpen() throws {
        let box = SealedBox(key: [UInt8](repeating: 5, count: 32))
        let sealed = try #require(box.seal([1, 2, 3], context: [4]))
        #expect(try #require(box.seal([1, 2, 3], context: [4])) != sealed, "each box has a nonce of its own")
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(box.open(changed, context: [4]) == nil)
            #expect(box.open(Array(sealed[..<index]), context: [4]) == nil)
        }
        #expect(box.open(sealed, context: [5]) == nil)
        #expect(SealedBox(key: [UInt8](repeating: 6, count: 32)).open(sealed, context: [4]) == nil)
        #expect(SealedBox(key: [1]).seal([1], context: []) == nil)
        #expect(box.open(sealed, context: [4]) == [1, 2, 3])
    }
}
