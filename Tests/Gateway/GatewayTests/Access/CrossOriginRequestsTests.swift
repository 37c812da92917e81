import MicroHTTPD
import Testing

@testable import Gateway

@Suite struct RequestForgeryTests {
    private static let body = #"{"upstream":"demo","connect":false}"#
    private static let cookie = HTTPField("Cookie", "a=b; gateway_token=lsg_admin; c=d")

    private func fixture(origins: [String] = []) async throws -> AccessFixture {
        var access = AccessFixture.keys()
        access.origins = origins
        return try await AccessFixture(access)
    }

    private func post(_ fixture: AccessFixture, _ headers: [(String, String)]) -> Int {
        let fields = headers.map { HTTPField($0.0, $0.1) }
        return fixture.perform("POST", "/v1/clients", Self.body, [Self.cookie] + fields).status
    }

    @Test func aPageOfTheGatewayMayUseTheCookie() async throws {
        let fixture = try await fixture()
        #expect(post(fixture, [("Sec-Fetch-Site", "same-origin"), ("Origin", "https://gateway.example")]) == 201)
        #expect(post(fixture, [("Origin", "https://gateway.example")]) == 201)
        #expect(fixture.perform("GET", "/v1/clients", "", [Self.cookie]).status == 200)
    }

    @Test(arguments: [
        [("Origin", "https://evil.example")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")], [],
        [("Sec-Fetch-Site", "same-site")], [("Origin", "https://gateway.example.evil.example")],
        [("Origin", "https://evil.example/gateway.example")], [("Origin", "https://gateway.example:444")],
        [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "none")], [("Origin", "")],
        [("Origin", "gateway.example")],
        [("Referer", "https://gateway.example/")],
    ])
    func anotherPageMayNot(headers: [(String, String)]) async throws {
        let fixture = try await fixture(origins: ["*", "https://good.example"])
        #expect(post(fixture, headers) == 403)
        #expect(fixture.services.pool.clients().isEmpty)
    }

    @Test(arguments: [
        ("https://gateway.example", "gateway.example:443", true),
        ("http://gateway.example", "gateway.example:80", true),
        ("https://gateway.example", "Gateway.Example", true), ("https://gateway.example", "gateway.example:80", false),
        ("https://gateway.example", "gateway.example:4433", false), ("https://", ":443", false),
    ])
    func theDefaultPortOfAnOriginMayBePartOfTheHost(origin: String, host: String, isOwn: Bool) {
        let fields = HTTPFields([HTTPField("Host", host), HTTPField("Origin", origin)])
        let request = HTTPRequest(method: "POST", rawPath: "/v1/clients", headers: fields)
        let isAdmitted = (try? RequestForgery(origins: []).check(request, withCookie: true)) != nil
        #expect(isAdmitted == isOwn)
    }

    @Test func theRefusalOfACookieNamesTheHeader() async throws {
        let outcome = try await fixture().perform("POST", "/v1/clients", Self.body, [Self.cookie])
        #expect(outcome.json["detail"]?.string?.contains("Authorization: Bearer") == true)
    }

    @Test(arguments: [["https://good.example"], ["*", "https://good.example"]])
    func aListedOriginMay(origins: [String]) async throws {
        let fixture = try await fixture(origins: origins)
        #expect(post(fixture, [("Origin", "https://good.example"), ("Sec-Fetch-Site", "cross-site")]) == 201)
        let outcome = fixture.perform(
            "GET",
            "/v1/clients",
            "",
            [Self.cookie, HTTPField("Origin", "https://good.example")]
        )
        #expect(outcome.headers["Access-Control-Allow-Credentials"] == "true")
    }

    @Test func aHeaderIsNoAmbientRight() async throws {
        let fixture = try await fixture()
        let origin = [HTTPField("Origin", "https://evil.example")]
        #expect(fixture.perform("POST", "/v1/clients", as: AccessFixture.admin, Self.body, origin).status == 201)
    }

    @Test func readingAcrossSitesIsRefusedButLinksAreFollowed() async throws {
        let fixture = try await fixture()
        let foreign = [Self.cookie, HTTPField("Sec-Fetch-Site", "cross-site")]
        #expect(fixture.perform("GET", "/v1/clients", "", foreign).status == 403)
        let link = foreign + [HTTPField("Sec-Fetch-Mode", "navigate")]
        #expect(fixture.perform("GET", "/v1/clients", "", link).status == 200)
    }

    /// Without authentication the rights are those of the machine, which a page in its browser must not use.
    @Test func anOpenGatewayOnLoopbackIsNotCalledByForeignPages() async throws {
        let fixture = try await Self.open()
        let foreign = [HTTPField("Origin", "https://evil.example")]
        #expect(fixture.perform("POST", "/v1/clients", Self.body, foreign).status == 403)
        #expect(fixture.perform("POST", "/v1/clients", Self.body).status == 201)
        #expect(fixture.perform("GET", "/v1/clients", "", foreign).status == 200)
    }

    /// A gateway without authentication that accepts the host of the fixture.
    private static func open(_ change: (inout AccessConfiguration) -> Void = { _ in }) async throws -> AccessFixture {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        change(&access)
        return try await AccessFixture(access)
    }

    private static let stream = "/v1/stream?upstream=demo&mode=MERGE&items=item1&fields=last_price"

    @Test func theLogNamesTheSettingsThatAdmitHostsAndOrigins() {
        let log = LogRecorder()
        let names = RefusedNames()
        for name in [RefusedName.host("a.example"), .origin("https://a.example")] { names.log(name, to: log.logger) }
        for (line, key) in zip(log.lines, ["http.hosts", "cors.origins"]) {
            #expect(line.contains("; \(key) lists"))
            #expect(Settings.all.contains { $0.key == key })
        }
        #expect(log.lines.count == 2)
    }

    /// A stream subscribes, which a page that embeds its address must not cause.
    @Test func aForeignPageOpensNoStreamOfAnOpenGateway() async throws {
        let fixture = try await Self.open { $0.origins = ["https://good.example"] }
        let site = HTTPField("Sec-Fetch-Site", "cross-site")
        let link = HTTPField("Sec-Fetch-Mode", "navigate")
        #expect(fixture.perform("GET", Self.stream, "", [site]).status == 403)
        #expect(fixture.perform("GET", Self.stream, "", [site, link]).status == 403)
        #expect(fixture.perform("GET", Self.stream, "", [HTTPField("Origin", "https://evil.example")]).status == 403)
        #expect(fixture.perform("GET", Self.stream, "", [HTTPField("Origin", "https://good.example"), site]).isStream)
        #expect(fixture.perform("GET", Self.stream, "", [HTTPField("Sec-Fetch-Site", "same-origin")]).isStream)
        #expect(fixture.perform("GET", Self.stream).isStream)
    }

    /// Values may be subscribed to by the request for them.
    @Test(arguments: ["/v1/values?upstream=demo&items=item1&fields=last_price", "/v1/clients"])
    func aForeignPageEmbedsNothingOfAnOpenGateway(url: String) async throws {
        let fixture = try await Self.open { $0.origins = ["https://good.example"] }
        let site = HTTPField("Sec-Fetch-Site", "cross-site")
        let link = HTTPField("Sec-Fetch-Mode", "navigate")
        let refused: [[HTTPField]] = [
            [site, HTTPField("Sec-Fetch-Mode", "no-cors"), HTTPField("Sec-Fetch-Dest", "image")],
            [site, link, HTTPField("Sec-Fetch-Dest", "iframe")], [site, HTTPField("Origin", "https://evil.example")],
        ]
        for fields in refused { #expect(fixture.perform("GET", url, "", fields).status == 403) }
        #expect(fixture.services.pool.clients().isEmpty)
        let admitted: [[HTTPField]] = [
            [], [HTTPField("Sec-Fetch-Site", "none")], [HTTPField("Sec-Fetch-Site", "same-site")], [site, link],
            [site, link, HTTPField("Sec-Fetch-Dest", "document")], [site, HTTPField("Origin", "https://good.example")],
        ]
        for fields in admitted {
            #expect(fixture.perform("GET", url, "", fields + [HTTPField("Prefer", "wait=0")]).status != 403)
        }
    }

    /// The page does not see the values that its link leads to, as with `GET /v1/values`.
    @Test func aForeignPageMayLinkToTheValuesOfAFeed() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        let fixture = try await AccessFixture(access) { configuration in
            var feed = FeedConfiguration(name: "quotes")
            feed.upstream = "demo"
            feed.items = [FeedItem("item1")].compactMap(\.self)
            feed.fields = [FeedField("price", "number")].compactMap(\.self)
            configuration.feeds = [feed]
        }
        let link = [HTTPField("Sec-Fetch-Site", "cross-site"), HTTPField("Sec-Fetch-Mode", "navigate")]
        let accept = HTTPField("Accept", "text/event-stream")
        let atOnce = HTTPField("Prefer", "wait=0")
        // Values do not arrive without a server, but the request is admitted.
        #expect(fixture.perform("GET", "/feeds/quotes/item1", "", link + [atOnce]).status == 504)
        #expect(fixture.perform("GET", "/feeds/quotes/item1", "", link + [accept]).status == 403)
        #expect(fixture.perform("GET", "/feeds/quotes?format=sse", "", link).status == 403)
    }

    @Test func aForeignPageOpensNoStreamWithTheCookie() async throws {
        let fixture = try await fixture()
        let foreign = [
            Self.cookie, HTTPField("Sec-Fetch-Site", "cross-site"), HTTPField("Sec-Fetch-Mode", "navigate"),
        ]
        #expect(fixture.perform("GET", Self.stream, "", foreign).status == 403)
    }

    @Test func duplicateCookieIsRefused() async throws {
        let fixture = try await fixture()
        let twice = [Self.cookie, HTTPField("Cookie", "gateway_token=lsg_bob")]
        #expect(fixture.perform("GET", "/v1/clients", "", twice).status == 400)
    }

    @Test func anotherCookieCountsForNothing() async throws {
        let fixture = try await fixture()
        let other = [HTTPField("Cookie", "Gateway_Token=lsg_admin; xgateway_token=lsg_admin")]
        #expect(fixture.perform("GET", "/v1/clients", "", other).status == 401)
        var access = AccessFixture.keys()
        access.cookie = nil
        #expect(try await AccessFixture(access).perform("GET", "/v1/clients", "", [Self.cookie]).status == 401)
    }
}
