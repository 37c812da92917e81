internal import Testing

@testable internal import SessionCore

@Suite struct ServerAddressTests {
    @Test func partsAreTakenApart() throws {
        let plain = try #require(ServerAddress("http://push.example.com"))
        #expect(plain.scheme == "http" && plain.host == "push.example.com" && plain.port == nil && plain.path == "")
        #expect(plain.effectivePort == 80)
        let full = try #require(ServerAddress("HTTPS://[::1]:8443/a/b"))
        #expect(full.scheme == "https" && full.host == "::1" && full.port == 8443 && full.path == "/a/b")
        #expect(try #require(ServerAddress("https://h")).effectivePort == 443)
    }

    @Test(arguments: [
        "", "foo", "http://", "http:///x", "tcp://h", "ws://h", "http://h?q", "http://h#f", "http://h:x", "http://h:0",
        "http://h:65536", "http://h:99999999999999999999", "http://a b", "http://[::1", "http://[x]", "http://u@h",
        "http://h:-1", "http://h:", "http://[u:p@h]",
    ])
    func nonsenseIsRefused(address: String) {
        #expect(ServerAddress(address) == nil)
    }

    @Test(arguments: [
        ("foo.com", "https://base", "https://foo.com"),
        ("foo.com", "https://base:443/path", "https://foo.com:443"),
        ("https://foo.com", "http://base", "https://foo.com"),
        ("https://foo.com:8443", "http://base:80", "https://foo.com:8443"),
        ("foo.com:8080", "http://base:80", "http://foo.com:8080"),
        ("foo.com/bar", "http://base:80/path", "http://foo.com:80/bar"),
        ("10.0.0.1", "http://base:81", "http://10.0.0.1:81"),
        ("[::1]:90", "http://base:81", "http://[::1]:90"),
        ("::1", "http://base:81", "http://[::1]:81"),
        ("::1/push", "http://base:81/path", "http://[::1]:81/push"),
        ("http://[fe80::1]", "http://base", "http://[fe80::1]"),
    ])
    func controlLinksAreCompleted(link: String, base: String, result: String) throws {
        let address = try #require(ServerAddress(base))
        #expect(ServerAddress.completing(controlLink: link, from: address) == result)
    }

    @Test(arguments: ["", "a b", "foo.com:x", "ftp://foo", "foo?x", "u:p@h:80"])
    func uselessControlLinksAreRefused(link: String) throws {
        let address = try #require(ServerAddress("http://base"))
        #expect(ServerAddress.completing(controlLink: link, from: address) == nil)
    }

    @Test func listsAllowByHostAndPort() {
        let list = AddressAllowList([
            .init(host: "Push.example.com", port: 443), .init(host: "127.0.0.1", port: nil), .init(host: nil, port: 99),
        ])
        #expect(list.allows("https://push.EXAMPLE.com/x"))
        #expect(!list.allows("http://push.example.com"))
        #expect(list.allows("http://127.0.0.1:4711"))
        #expect(list.allows("http://anything:99"))
        #expect(!list.allows("http://anything"))
        #expect(!list.allows("nonsense"))
        #expect(!AddressAllowList([]).allows("http://127.0.0.1"))
    }
}
