import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway

/// Callers own dedicated clients whose upstream or items their rights do not cover, or no longer cover.
@Suite struct ReducedRightsTests {
    /// A token of one subject.
    private static func token(
        upstreams: String = "demo",
        items: String = "item*",
        _ fixture: AccessFixture
    ) throws -> String {
        let rights = #""operations":"read subscribe manage send","upstreams":"\#(upstreams)","items":"\#(items)""#
        return try TokenForge.token(rights, expiry: fixture.time.wall + 100)
    }

    private static func requests(on client: String, _ subscription: String) -> [(String, String, String)] {
        let properties = #""mode":"MERGE","items":["item1"],"fields":["f"],"active":false"#
        return [
            ("GET", "/v1/clients/\(client)", ""), ("GET", "/v1/clients/\(client)/details", ""),
            ("GET", "/v1/clients/\(client)/options", ""), ("PATCH", "/v1/clients/\(client)/options", "{}"),
            ("GET", "/v1/clients/\(client)/cookies", ""), ("GET", "/v1/clients/\(client)/events", ""),
            ("GET", "/v1/clients/\(client)/events?subscriptions=true", ""), ("GET", "/v1/stream?client=\(client)", ""),
            ("POST", "/v1/streams", #"{"sources":[{"client":"\#(client)","subscriptions":true}]}"#),
            ("POST", "/v1/clients/\(client)/messages", #"{"text":"x"}"#),
            ("POST", "/v1/subscriptions", #"{"client":"\#(client)",\#(properties)}"#),
            ("POST", "/v1/clients/\(client)/disconnect", ""), ("POST", "/v1/clients/\(client)/connect", ""),
            ("GET", "/v1/subscriptions/\(subscription)", ""), ("GET", "/v1/subscriptions/\(subscription)/values", ""),
            ("GET", "/v1/subscriptions/\(subscription)/events", ""), ("DELETE", "/v1/clients/\(client)", ""),
        ]
    }

    /// They have the options and details that are changed, with credentials among them.
    @Test func theEventsOfAClientNeedTheRightToManageIt() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let owner = try Self.token(fixture)
        let rights = #""operations":"read subscribe","upstreams":"demo","items":"item*""#
        let reader = try TokenForge.token(rights, expiry: fixture.time.wall + 100)
        let client = fixture.makeClient(as: owner)
        for target in ["/v1/clients/\(client)/events", "/v1/stream?client=\(client)"] {
            let refused = fixture.perform("GET", target, as: reader)
            #expect(refused.status == 403)
            #expect(refused.headers["WWW-Authenticate"]?.contains("manage") == true)
            #expect(fixture.perform("GET", target, as: owner).isStream)
        }
        #expect(fixture.perform("GET", "/v1/clients/\(client)", as: reader).status == 200)
    }

    @Test func aDedicatedClientNeedsItsUpstreamOnEveryCall() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        func token(_ upstream: String) throws -> String { try Self.token(upstreams: upstream, fixture) }
        let (wide, narrow) = (try token("*"), try token("secret"))
        let client = fixture.makeClient(as: wide)
        let body = #"{"client":"\#(client)","mode":"MERGE","items":["item1"],"fields":["f"],"active":false}"#
        let subscription = try #require(fixture.perform("POST", "/v1/subscriptions", as: wide, body).json["id"]?.string)
        for (method, target, body) in Self.requests(on: client, subscription) {
            #expect(fixture.perform(method, target, as: narrow, body).status == 404, "\(method) \(target)")
        }
        #expect(fixture.perform("GET", "/v1/clients", as: narrow).json["clients"]?.array?.isEmpty == true)
        #expect(fixture.perform("GET", "/v1/clients", as: wide).json["clients"]?.array?.count == 1)
    }

    @Test func aClientByAddressNeedsAllUpstreams() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration()) {
            $0.pool.allowedAddresses = AddressAllowList([.init(host: "a.example", port: nil)])
        }
        func token(_ upstream: String) throws -> String { try Self.token(upstreams: upstream, fixture) }
        let specification = ClientSpecification(target: .address("http://a.example"))
        let client = try fixture.services.pool.createClient(specification).id
        var caller = Caller(identity: "jwt:carol")
        caller.rights = .all
        try fixture.services.access.owners.note(client, madeBy: caller)
        let target = "/v1/clients/\(client.rawValue)/details"
        #expect(fixture.perform("GET", target, as: try token("*")).status == 200)
        #expect(fixture.perform("GET", target, as: try token("demo")).status == 404)
    }

    @Test func aClientOfAnotherAdapterSetNeedsAllUpstreams() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        func token(_ upstream: String) throws -> String { try Self.token(upstreams: upstream, fixture) }
        let client = fixture.makeClient(as: try token("*"))
        let target = "/v1/clients/\(client)/details"
        #expect(fixture.perform("GET", target, as: try token("demo")).status == 200)
        #expect(fixture.perform("PATCH", target, as: try token("*"), #"{"adapterSet":"SECRET"}"#).status == 200)
        #expect(fixture.perform("GET", target, as: try token("demo")).status == 404)
    }

    @Test func aStreamWithSubscriptionsDeliversThoseThatTheCallerMaySee() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let (wide, narrow) = (try Self.token(items: "*", fixture), try Self.token(items: "item1", fixture))
        let client = fixture.makeClient(as: wide)
        func subscribe(_ item: String) throws -> String {
            let body = #"{"client":"\#(client)","mode":"MERGE","items":["\#(item)"],"fields":["f"]}"#
            return try #require(fixture.perform("POST", "/v1/subscriptions", as: wide, body).json["id"]?.string)
        }
        let (open, forbidden) = (try subscribe("item1"), try subscribe("item2"))
        let target = "/v1/clients/\(client)/events?subscriptions=true"
        let all = fixture.events(target, as: wide)
        #expect(all.contains(open) && all.contains(forbidden))
        let some = fixture.events(target, as: narrow)
        #expect(some.contains(open) && !some.contains(forbidden))
        let later = fixture.events(target, as: narrow) { _ = try? subscribe("item2") }
        #expect(later.contains(open) && !later.contains("item2") && !later.contains(forbidden))
    }

    @Test func aStreamWithSourcesOutsideTheRightsIsUnknown() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let (wide, narrow) = (try Self.token(items: "*", fixture), try Self.token(items: "item1", fixture))
        let body = #"{"upstream":"demo","mode":"MERGE","items":["item2"],"fields":["f"]}"#
        let id = try #require(fixture.perform("POST", "/v1/streams", as: wide, body).json["id"]?.string)
        for (method, rest) in [("GET", ""), ("GET", "/events"), ("PATCH", ""), ("DELETE", "")] {
            let body = method == "PATCH" ? "{}" : ""
            let outcome = fixture.perform(method, "/v1/streams/\(id)\(rest)", as: narrow, body)
            #expect(outcome.status == 404, "\(method) \(rest)")
        }
        #expect(fixture.perform("GET", "/v1/streams", as: narrow).json["streams"]?.array?.isEmpty == true)
        #expect(fixture.perform("GET", "/v1/streams/\(id)", as: wide).status == 200)
    }

    @Test func anOpenStreamTakesNoSourcesThatTheTokenOfItsReaderDoesNotCover() async throws {
        let fixture = try await AccessFixture(TokenForge.configuration())
        let (wide, narrow) = (try Self.token(items: "*", fixture), try Self.token(items: "item1", fixture))
        func source(_ item: String) -> String {
            #"{"upstream":"demo","mode":"MERGE","items":["\#(item)"],"fields":["f"]}"#
        }
        let id = try #require(fixture.perform("POST", "/v1/streams", as: wide, source("item1")).json["id"]?.string)
        let stream = try #require(fixture.open("GET", "/v1/streams/\(id)/events", as: narrow).1)
        func add(_ source: String) -> Fixture.Outcome {
            fixture.perform("PATCH", "/v1/streams/\(id)", as: wide, #"{"add":[\#(source)]}"#)
        }
        let own = fixture.makeSubscription(as: wide, items: #"["item2"]"#)
        for source in [source("item2"), #"{"subscription":"\#(own)"}"#] {
            let outcome = add(source)
            #expect(outcome.status == 403)
            #expect(outcome.json["detail"]?.string?.contains("opened the stream") == true)
        }
        #expect(fixture.services.streams.listing(of: id)?.summary.request.sources.count == 1)
        #expect(add(#"{"subscription":"\#(fixture.makeSubscription(as: wide))"}"#).status == 200)
        stream.onEnd(.neverOpened)
        // The next reader needs the rights.
        #expect(add(source("item2")).status == 200)
        #expect(fixture.perform("GET", "/v1/streams/\(id)/events", as: narrow).status == 404)
    }
}
