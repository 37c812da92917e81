internal import Synchronization
internal import Testing

@testable internal import TLCPTransports

@Suite struct CookieJarTests {
    /// A jar with a manual clock.
    private final class Clock: Sendable {
        private let time = Mutex(1_000_000.0)
        var now: Double { time.withLock { $0 } }
        func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
    }

    private let clock = Clock()
    private let jar: CookieJar

    init() { jar = CookieJar { [clock] in clock.now } }

    private func origin(_ host: String = "push.example.com", _ path: String = "/a/b", secure: Bool = false)
        -> CookieOrigin
    {
        CookieOrigin(host: host, path: path, isSecure: secure)
    }

    private func header(_ host: String = "push.example.com", _ path: String = "/a/b", secure: Bool = false) -> String? {
        jar.header(for: origin(host, path, secure: secure))
    }

    @Test func cookieWithoutDomainIsSentToItsHostOnly() {
        jar.receive(setCookie: ["id=1"], from: origin())
        #expect(header() == "id=1")
        #expect(header("sub.push.example.com") == nil)
        #expect(header("example.com") == nil)
    }

    @Test func cookieWithDomainIsSentToItsSubdomains() {
        jar.receive(setCookie: ["id=1; Domain=.Example.com; Path=/"], from: origin())
        #expect(header() == "id=1")
        #expect(header("other.example.com") == "id=1")
        #expect(header("example.com") == "id=1")
        #expect(header("badexample.com") == nil)
    }

    @Test(arguments: [
        "id=1; Domain=other.com", "id=1; Domain=com", "=x", "novalue", "id=1; Domain=sub.push.example.com",
    ])
    func cookiesThatTheOriginMayNotSetAreIgnored(header: String) {
        jar.receive(setCookie: [header], from: origin())
        #expect(jar.all.isEmpty)
    }

    @Test func pathsAreMatchedByWholeSegments() {
        jar.receive(setCookie: ["id=1; Path=/a"], from: origin())
        #expect(header("push.example.com", "/a") == "id=1")
        #expect(header("push.example.com", "/a/c") == "id=1")
        #expect(header("push.example.com", "/ab") == nil)
        #expect(header("push.example.com", "/") == nil)
    }

    @Test func defaultPathIsTheFolderOfTheRequest() {
        jar.receive(setCookie: ["id=1"], from: origin("push.example.com", "/x/create.txt"))
        #expect(header("push.example.com", "/x/bind.txt") == "id=1")
        #expect(header("push.example.com", "/y") == nil)
    }

    @Test func secureCookiesNeedEncryptionBothWays() {
        jar.receive(setCookie: ["a=1; Secure; Path=/"], from: origin())
        #expect(jar.all.isEmpty)
        jar.receive(setCookie: ["a=1; Secure; Path=/"], from: origin(secure: true))
        #expect(header() == nil)
        #expect(header(secure: true) == "a=1")
    }

    @Test func longerPathsComeFirstThenOlderCookies() {
        jar.receive(setCookie: ["a=1; Path=/", "b=2; Path=/a", "c=3; Path=/"], from: origin())
        #expect(header() == "b=2; a=1; c=3")
    }

    @Test func cookiesExpireAndMaxAgeWins() {
        jar.receive(setCookie: ["a=1; Path=/; Max-Age=10; Expires=Wed, 09 Jun 2100 10:18:14 GMT"], from: origin())
        #expect(header() == "a=1")
        clock.advance(11)
        #expect(header() == nil)
    }

    @Test func expiredCookieRemovesItsPredecessor() {
        jar.receive(setCookie: ["a=1; Path=/"], from: origin())
        jar.receive(setCookie: ["a=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], from: origin())
        #expect(jar.all.isEmpty)
    }

    @Test func newValueReplacesTheOldOneInItsPlace() {
        jar.receive(setCookie: ["a=1; Path=/", "b=2; Path=/", "a=3; Path=/"], from: origin())
        #expect(header() == "a=3; b=2")
    }

    @Test func jarIsBounded() {
        jar.receive(setCookie: (0..<200).map { "n\($0)=1; Path=/" }, from: origin())
        #expect(jar.all.count == CookieStore.maxPerDomain)
        #expect(jar.all.last?.name == "n199")
    }

    @Test func bytesOfAllCookiesAreBounded() {
        let value = String(repeating: "v", count: 4_000)
        for number in 0..<200 { jar.receive(setCookie: ["n=\(value); Path=/"], from: origin("h\(number).example.com")) }
        let size = jar.all.reduce(0) { $0 + $1.value.utf8.count }
        #expect(size > CookieStore.maxBytes * 9 / 10 && size <= CookieStore.maxBytes)
        #expect(jar.all.last?.domain == "h199.example.com")
        #expect(!jar.all.contains { $0.domain == "h0.example.com" })
        jar.receive(setCookie: (0..<200).map { "n\($0)=\(value); Path=/" }, from: origin())
        #expect(jar.all.count { $0.domain == "push.example.com" } == CookieStore.maxPerDomain)
    }

    @Test(arguments: [
        ("Wed, 09 Jun 2021 10:18:14 GMT", 1_623_233_894.0), ("Wednesday, 09-Jun-21 10:18:14 GMT", 1_623_233_894.0),
        ("Wed Jun  9 10:18:14 2021", 1_623_233_894.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("Sat, 29 Feb 2020 23:59:59 GMT", 1_583_020_799.0),
    ])
    func datesAreReadInAllTheirShapes(text: String, seconds: Double) {
        #expect(CookieDate.seconds(text) == seconds)
    }

    @Test(arguments: [
        "", "yesterday", "Wed, 09 Jun 2021", "99 Jun 2021 10:18:14", "09 Jun 2021 25:00:00", "9 Foo 2021 1:1:1",
    ])
    func textsThatAreNoDatesAreRefused(text: String) {
        #expect(CookieDate.seconds(text) == nil)
    }

    @Test(arguments: [
        ("https://Push.example.com:8443/x/y?q", CookieOrigin(host: "push.example.com", path: "/x/y", isSecure: true)),
        ("http://[::1]:80", CookieOrigin(host: "::1", path: "/", isSecure: false)),
    ])
    func originsAreReadFromAddresses(url: String, expected: CookieOrigin) {
        #expect(CookieOrigin(url: url) == expected)
    }
}
