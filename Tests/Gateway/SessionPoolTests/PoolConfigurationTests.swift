internal import SessionCore
internal import SessionPool
internal import Testing

@Suite struct PoolConfigurationTests {
    @Test(arguments: [
        ("127.0.0.1:8080", "http://127.0.0.1:8080", true),
        ("127.0.0.1:8080", "http://127.0.0.1:8081", false),
        ("127.0.0.1:*", "http://127.0.0.1:8081", true),
        ("*:443", "https://push.example.com", true),
        ("*:443", "http://push.example.com", false),
        ("*:*", "http://anything:1", true),
        ("Push.Example.com:80", "http://push.example.COM", true),
        ("localhost:80", "http://127.0.0.1:80", false),
        ("[::1]:8080", "http://[::1]:8080", true),
        ("127.0.0.1:8080", "http://127.0.0.1:8080@evil.example", false),
    ])
    func addressIsAllowedAsWritten(pattern: String, address: String, isAllowed: Bool) throws {
        let entry = try #require(AddressAllowList.entry(pattern))
        #expect(AddressAllowList([entry]).allows(address) == isAllowed)
    }

    @Test(arguments: [
        "", "host", ":80", "host:", "host:0", "host:65536", "host:8x", "a/b:80", "user@host:80", "a b:80",
    ])
    func patternOfAnotherShapeIsRefused(pattern: String) {
        #expect(AddressAllowList.entry(pattern) == nil)
    }
}
