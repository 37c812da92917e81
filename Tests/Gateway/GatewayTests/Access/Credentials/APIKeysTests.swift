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

    @Test(arguments: [0, 15, 31, 63])
    func aHashWithAnotherDigitMatchesNothing(place: Int) throws {
        var digits = Array(KeyHash(of: "abc").description.utf8)
        let index = "sha256:".utf8.count + place
        digits[index] = digits[index] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
        let other = try #require(KeyHash(String(decoding: digits, as: UTF8.self)))
        #expect(APIKeys([KeyConfiguration(name: "one", hash: other)]).find("abc") == nil)
    }

    @Test func changedIdentitiesAreReturned() {
        let one = KeyConfiguration(name: "one", hash: KeyHash(of: "1"))
        var narrowed = KeyConfiguration(name: "two", hash: KeyHash(of: "2"))
        let two = narrowed
        narrowed.rights.items = []
        let changed = APIKeys([one, two]).identitiesChanged(in: APIKeys([one, narrowed]))
        #expect(changed == ["key:two"])
        #expect(APIKeys([one]).identitiesChanged(in: APIKeys([])) == ["key:one"])
    }
}
