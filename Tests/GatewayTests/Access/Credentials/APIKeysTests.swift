import Testing

@testable import Gateway

@Suite struct APIKeysTests {
    @Test func aKeyIsFoundByItsHashOnly() {
        let key = APIKey.make()
        let ring = APIKeys([KeyConfiguration(name: "one", hash: KeyHash(of: key)), KeyConfiguration(name: "none")])
        #expect(ring.find(key)?.name == "one")
        #expect(ring.find(key + "x") == nil)
        #expect(ring.find("") == nil)
        #expect(ring.find("\(KeyHash(of: key))") == nil)
    }

    @Test func keysAreLongAndDifferent() {
        let keys = (0..<100).map { _ in APIKey.make() }
        #expect(Set(keys).count == 100)
        #expect(keys.allSatisfy { $0.hasPrefix("lsg_") && $0.utf8.count == 47 })
    }

    @Test func hashesAreReadBackAndNothingElseIs() throws {
        let hash = KeyHash(of: "abc")
        #expect(hash.description == "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(try #require(KeyHash(hash.description)) == hash)
        #expect(try #require(KeyHash(hash.description.uppercased().replacing("SHA256", with: "sha256"))) == hash)
        for text in ["", "sha256:", "abc", "md5:00", hash.description + "0", String(hash.description.dropLast()) + "g"]
        {
            #expect(KeyHash(text) == nil)
        }
    }

    /// Counts how many bytes a comparison looks at.
    private final class CountedBytes: Collection {
        let bytes: [UInt8]
        private(set) var looks = 0

        init(_ bytes: [UInt8]) { self.bytes = bytes }

        var startIndex: Int { 0 }
        var endIndex: Int { bytes.count }
        func index(after index: Int) -> Int { index + 1 }
        subscript(position: Int) -> UInt8 {
            looks += 1
            return bytes[position]
        }
    }

    @Test(arguments: [0, 15, 31, 32])
    func comparisonLooksAtEveryByteWhereverTheDifferenceIs(place: Int) {
        var other = [UInt8](repeating: 7, count: 32)
        if place < 32 { other[place] ^= 1 }
        let counted = CountedBytes([UInt8](repeating: 7, count: 32))
        #expect(ConstantTime.areEqual(counted, other) == (place == 32))
        #expect(counted.looks == 32)
    }

    @Test func identitiesThatChangedAreTold() {
        let one = KeyConfiguration(name: "one", hash: KeyHash(of: "1"))
        var narrowed = KeyConfiguration(name: "two", hash: KeyHash(of: "2"))
        let two = narrowed
        narrowed.rights.items = []
        let changed = APIKeys([one, two]).identitiesChanged(in: APIKeys([one, narrowed]))
        #expect(changed == ["key:two"])
        #expect(APIKeys([one]).identitiesChanged(in: APIKeys([])) == ["key:one"])
    }
}
