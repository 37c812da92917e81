import Crypto
import Cryptography
import Testing

/// Hashes and sealed bytes, against another implementation.
struct HashTests {
    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 1000, 1 << 20])
    func hashesAndCodesAreThoseOfAnotherImplementation(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        #expect(Cryptography.SHA256.hash(bytes) == Array(Crypto.SHA256.hash(data: bytes)))
        for key in [[], [1, 2, 3], [UInt8](repeating: 9, count: 100)] as [[UInt8]] {
            let expected = HMAC<Crypto.SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key))
            #expect(Cryptography.SHA256.code(of: bytes, key: key) == Array(expected))
        }
    }

    @Test func hashesAreComparedAsAWhole() {
        let hash = Cryptography.SHA256.hash([1])
        #expect(Cryptography.SHA256.areEqual(hash, Cryptography.SHA256.hash([1])))
        #expect(!Cryptography.SHA256.areEqual(hash, Cryptography.SHA256.hash([2])))
        #expect(!Cryptography.SHA256.areEqual(hash, Array(hash.dropLast())))
        #expect(!Cryptography.SHA256.areEqual(hash, []))
        #expect(Cryptography.SHA256.areEqual([], []))
    }

    @Test(arguments: [0, 1, 16, 1000])
    func sealedBytesOpenInAnotherImplementationAndBack(count: Int) throws {
        let key = [UInt8](repeating: 5, count: 32)
        let box = SealedBox(key: key)
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for context in [[], [7, 8]] as [[UInt8]] {
            let sealed = try #require(box.seal(bytes, context: context))
            #expect(sealed.count == 12 + count + 16)
            let other = try AES.GCM.SealedBox(combined: sealed)
            #expect(Array(try AES.GCM.open(other, using: SymmetricKey(data: key), authenticating: context)) == bytes)
            let theirs = try AES.GCM.seal(bytes, using: SymmetricKey(data: key), authenticating: context).combined
            #expect(box.open(Array(try #require(theirs)), context: context) == bytes)
        }
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
