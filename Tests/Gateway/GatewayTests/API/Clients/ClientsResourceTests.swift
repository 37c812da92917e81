import Changes
import Dispatch
import JSONText
import MicroHTTPD
import SessionCore
import SessionPool
import Synchronization
import Testing

@testable import Gateway
@testable import LightstreamerClient

@Suite struct ClientsResourceTests {
    private let fixture = Fixture()

    @Test func aDedicatedClientIsMadeShownAndDeleted() {
        let made = fixture.perform(
            "POST",
            "/v1/clients",
            #"{"upstream":"demo","connect":false,"options":{"retryDelay":7}}"#
        )
        #expect(made.status == 201)
        #expect(made.json["status"]?.string == "DISCONNECTED")
        #expect(made.json["transport"]?.isNull == true)
        let location = made.headers["Location"] ?? ""
        #expect(fixture.perform("GET", location + "/options").json["retryDelay"]?.number?.intValue == 7)
        #expect(fixture.perform("GET", "/v1/clients").json["clients"]?.array?.count == 1)
        #expect(fixture.perform("DELETE", location).status == 204)
        #expect(fixture.perform("GET", location).code == "unknown-client")
    }

    @Test func aClientIsDeletedInTheBackgroundWhereThereAreManySubscriptions() async {
        let path = "/v1/clients/\(fixture.makeClient())"
        for _ in 0...WorkSize.mostVisits { #expect(!fixture.makeSubscription().isEmpty) }
        let gate = DispatchSemaphore(value: 0)
        let isBusy = fixture.services.background.large.add { gate.wait() }
        let (statuses, source) = AsyncStream.makeStream(of: Int.self)
        let outcome = fixture.perform("DELETE", path) { source.yield($0.status) }
        #expect(isBusy && outcome.isWaiting && fixture.services.pool.clients().count == 1)
        gate.signal()
        for await status in statuses.prefix(1) { #expect(status == 204) }
        #expect(fixture.services.pool.clients().isEmpty)
    }

    @Test(arguments: [true, false])
    func aWaitForAClientEndsWithTheClient(isNew: Bool) async throws {
        let prefer = ["Prefer": "wait=300"]
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let (path, body) =
            isNew
            ? ("/v1/clients", #"{"upstream":"demo"}"#) : ("/v1/clients/\(fixture.makeClient())/connect", "")
        let begun = fixture.perform("POST", path, body, prefer) { source.yield($0) }
        #expect(begun.isWaiting)
        let client = try #require(fixture.services.pool.clients().last?.id.rawValue)
        #expect(fixture.perform("DELETE", "/v1/clients/\(client)").status == 204)
        for await response in responses {
            let outcome = Fixture.outcome(response)
            #expect(outcome.status == 404)
            #expect(outcome.code == "unknown-client")
            #expect(outcome.headers["Preference-Applied"] == "wait=300")
            break
        }
    }

    @Test func aWaitForAConnectionEndsWhenAnotherRequestDisconnectsTheClient() async throws {
        let path = "/v1/clients/\(fixture.makeClient())"
        let client = try #require(fixture.services.pool.clients().last)
        let (responses, source) = AsyncStream.makeStream(of: HTTPResponse.self)
        let begun = fixture.perform("POST", path + "/connect", "", ["Prefer": "wait=300"]) { source.yield($0) }
        #expect(begun.isWaiting)
        while client.watchers.isEmpty { await Task.yield() }
        #expect(fixture.perform("POST", path + "/disconnect").status == 202)
        for await response in responses {
            let outcome = Fixture.outcome(response)
            #expect(outcome.status == 202)
            #expect(outcome.headers["Preference-Applied"] == nil)
            break
        }
    }

    @Test func activeSubscriptionsOfAClientAreListedInTheOrderOfSubscription() throws {
        let client = fixture.makeClient()
        let paths = try ["a", "b", "c"].map { item in
            let body = #"{"client":"\#(client)","mode":"RAW","items":["\#(item)"],"fields":["f"],"active":false}"#
            return try #require(fixture.perform("POST", "/v1/subscriptions", body).headers["Location"])
        }
        let listed = { fixture.perform("GET", "/v1/clients/\(client)").json["subscriptions"]?.array?.map(\.string) }
        let clients = { fixture.perform("GET", "/v1/clients").json["clients"]?.array ?? [] }
        #expect(listed() == [])
        #expect(clients().map { $0["subscriptions"] } == [.array([])])
        for path in [paths[2], paths[0], paths[1]] {
            #expect(fixture.perform("POST", path + "/subscribe").status == 202)
        }
        let ids = paths.map { $0.split(separator: "/").last.map(String.init) }
        #expect(listed() == [ids[2], ids[0], ids[1]])
        #expect(fixture.perform("POST", paths[0] + "/unsubscribe").status == 202)
        #expect(listed() == [ids[2], ids[1]])
        #expect(clients().map { $0["subscriptions"]?.array?.map(\.string) } == [[ids[2], ids[1]]])
    }

    @Test func everyRefusedOptionIsPointedAt() {
        let body = #"{"upstream":"demo","options":{"retryDelay":0,"nothing":1}}"#
        let outcome = fixture.perform("POST", "/v1/clients", body)
        #expect(Set(outcome.pointers) == ["/options/retryDelay", "/options/nothing"])
        #expect(fixture.services.pool.clients().isEmpty)
    }

    @Test func membersThatExcludeEachOtherAndReadOnlyOnesAreNamed() {
        let both = fixture.perform("POST", "/v1/clients", #"{"upstream":"demo","serverAddress":"http://a"}"#)
        #expect(both.status == 422)
        #expect(both.json["detail"]?.string?.contains("Either upstream or serverAddress is expected") == true)
        let client = "/v1/clients/\(fixture.makeClient())"
        let made = fixture.perform(
            "POST",
            "/v1/subscriptions",
            #"{"upstream":"demo","mode":"RAW","items":["a"],"fields":["f"],"active":false}"#
        )
        for (path, member) in [
            ("\(client)/options", "realMaxBandwidth"), ("\(client)/details", "sessionId"),
            (made.headers["Location"] ?? "", "mode"),
        ] {
            let outcome = fixture.perform("PATCH", path, #"{"\#(member)":"RAW"}"#)
            #expect(outcome.status == 422)
            #expect(outcome.json["detail"]?.string == "\(member): It is read-only.")
        }
    }

    @Test func anOptionsPatchIsAllOrNothing() {
        let path = "/v1/clients/\(fixture.makeClient())/options"
        #expect(fixture.perform("PATCH", path, #"{"retryDelay":9,"idleTimeout":-1}"#).status == 422)
        #expect(fixture.perform("GET", path).json["retryDelay"]?.number?.intValue == 2)
        let changed = fixture.perform("PATCH", path, #"{"retryDelay":9,"httpExtraHeaders":{"X-A":"1"}}"#)
        #expect(changed.json["requested"]?["retryDelay"]?.number?.intValue == 9)
        #expect(changed.json["httpExtraHeaders"]?["X-A"]?.string == "1")
    }

    @Test func nullRestoresTheDefaultsOfTheConfiguredEdition() throws {
        let fixture = Fixture {
            $0.pool.edition = .old
            $0.pool.allowedAddresses = AddressAllowList([.init(host: "a.example", port: nil)])
        }
        let body = #"{"serverAddress":"http://a.example","connect":false,"options":{"retryDelay":7}}"#
        let path = try #require(fixture.perform("POST", "/v1/clients", body).headers["Location"]) + "/options"
        #expect(fixture.perform("GET", path).json["sessionRecoveryTimeout"]?.number?.intValue == 0)
        #expect(fixture.perform("PATCH", path, #"{"retryDelay":null}"#).json["retryDelay"]?.number?.intValue == 5)
    }

    @Test func thePasswordIsNeverShown() {
        let path = "/v1/clients/\(fixture.makeClient())/details"
        let changed = fixture.perform("PATCH", path, #"{"user":"anna","password":"secret"}"#)
        #expect(changed.json["user"]?.string == "anna")
        #expect(!changed.text.contains("secret"))
    }

    @Test func validityIsLookedAtBeforeRights() {
        let path = "/v1/clients/\(fixture.makeClient())/details"
        #expect(fixture.perform("PATCH", path, #"{"serverAddress":"tcp://x"}"#).status == 422)
        #expect(fixture.perform("PATCH", path, #"{"serverAddress":"http://x.example"}"#).code == "upstream-not-allowed")
    }

    @Test func listsAndAddressesOfADetailsPatchAreBounded() {
        let path = "/v1/clients/\(fixture.makeClient())/details"
        let pin = #""sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=""#
        func patch(_ count: Int) -> String {
            #"{"certificatePins":[\#(Array(repeating: pin, count: count).joined(separator: ","))]}"#
        }
        #expect(fixture.perform("PATCH", path, patch(100)).status == 200)
        #expect(fixture.perform("PATCH", path, patch(101)).pointers == ["/certificatePins"])
        let long = "http://demo.example/" + String(repeating: "a", count: 2048)
        #expect(fixture.perform("PATCH", path, #"{"serverAddress":"\#(long)"}"#).pointers == ["/serverAddress"])
    }

    @Test(arguments: [
        ("sha256/TuN1rTj4Av0tyTycYjzFXlZ9Mewu6lbbu6UbO0Ajjdk=", true), ("sha1/6PiNxl0ukOH6FqI56ynlwGGoAnk=", true),
        ("sha1/6PiNxl0ukOH6FqI56ynlwGGoAnl=", false), ("sha1/6PiNxl0ukOH6FqI56ynlwGGoAnk", false),
        ("md5/6PiNxl0ukOH6FqI56ynlwGGoAnk=", false), ("6PiNxl0ukOH6FqI56ynlwGGoAnk=", false),
    ])
    func pinsAreDigestsOfBothKinds(pin: String, isAdmitted: Bool) {
        let path = "/v1/clients/\(fixture.makeClient())/details"
        let response = fixture.perform("PATCH", path, #"{"certificatePins":["\#(pin)"]}"#)
        #expect(response.status == (isAdmitted ? 200 : 422))
    }

    @Test func connectWithoutAnAddressIsAConflict() {
        let fixture = Fixture { $0.pool.allowedAddresses = AddressAllowList([.init(host: "a.example", port: nil)]) }
        let body = #"{"serverAddress":"http://a.example","connect":false}"#
        let path = fixture.perform("POST", "/v1/clients", body).headers["Location"] ?? ""
        #expect(fixture.perform("PATCH", path + "/details", #"{"serverAddress":null}"#).status == 200)
        #expect(fixture.perform("POST", path + "/connect").code == "lifecycle")
    }

    @Test func theSessionIDIsShownOnlyToCallersThatControlTheClient() throws {
        let client = try #require(fixture.services.pool.client(ClientID(fixture.makeClient())))
        client.core.core.state.withLock { _ = $0.session.apply(.sessionId("S1")) }
        let services = fixture.services
        for (caller, id) in [(Caller.unauthenticated, JSONValue.string("S1")), (Caller.anonymous, .null)] {
            let permissions = Permissions(
                caller: caller,
                owners: services.access.owners,
                pool: services.pool,
                coordination: services.coordination,
                feeds: services.current.version.visibleFeeds
            )
            var json = JSONBytes()
            services.write(client, permissions, to: &json)
            #expect(try JSONValue(parsing: json.bytes)["sessionId"] == id)
        }
    }

    @Test func configuredHeadersAreMasked() throws {
        let fixture = Fixture {
            $0.pool.upstreams[0].options.httpExtraHeaders = ["Authorization": "Bearer secret", "X-B": "2"]
        }
        let id = fixture.makeClient()
        let path = "/v1/clients/\(id)/options"
        let options = fixture.perform("PATCH", path, #"{"httpExtraHeaders":{"X-A":"1","x-b":"3"}}"#)
        #expect(options.json["httpExtraHeaders"]?["X-A"]?.string == "1")
        #expect(options.json["httpExtraHeaders"]?["Authorization"]?.string == "***")
        #expect(options.json["requested"]?["httpExtraHeaders"]?["x-b"]?.string == "***")
        #expect(!options.text.contains("secret"))
        let client = try #require(fixture.services.pool.client(ClientID(id)))
        let property = ClientPropertyValue.json("httpExtraHeaders", of: client)
        #expect(property?["Authorization"]?.string == "***")
        #expect(property?["X-A"]?.string == "1")
        #expect(ClientPropertyValue.json("password", of: client) == nil)
    }

    @Test func theAddressOfAClientOfAnUpstreamStays() {
        let fixture = Fixture { $0.pool.allowedAddresses = AddressAllowList([.init(host: "a.example", port: nil)]) }
        let path = "/v1/clients/\(fixture.makeClient())/details"
        for address in [#""http://a.example""#, "null"] {
            let changed = fixture.perform("PATCH", path, #"{"serverAddress":\#(address)}"#)
            #expect(changed.status == 409)
            #expect(changed.code == "lifecycle")
            #expect(changed.pointers == ["/serverAddress"])
        }
        #expect(fixture.perform("PATCH", path, #"{"serverAddress":"http://b.example"}"#).status == 403)
        #expect(fixture.perform("PATCH", path, #"{"serverAddress":"http://127.0.0.1:9"}"#).status == 200)
        #expect(fixture.perform("GET", path).json["serverAddress"]?.string == "http://127.0.0.1:9")
    }

    @Test(arguments: [
        ("{}", 422, ["/token", "/applicationId"]), (#"{"token":"t","applicationId":"a"}"#, 202, []),
        (#"{"token":"","applicationId":"a"}"#, 422, ["/token"]),
        (#"{"token":"t","applicationId":"a","platform":"Nokia"}"#, 422, ["/platform"]),
        (#"{"token":"t","applicationId":"a","platform":"Google","previousToken":null}"#, 202, []),
    ])
    func aDeviceIsRegistered(body: String, status: Int, pointers: [String]) {
        let outcome = fixture.perform("PUT", "/v1/clients/\(fixture.makeClient())/device", body)
        #expect(outcome.status == status)
        #expect(outcome.pointers == pointers)
    }

    @Test func aBadgeIsResetOnlyOfADedicatedClient() {
        #expect(fixture.perform("POST", "/v1/clients/\(fixture.makeClient())/badge-reset").status == 202)
        #expect(fixture.perform("POST", "/v1/clients/none/badge-reset").code == "unknown-client")
    }

    @Test func cookiesAreStoredInTheClientsOwnJar() {
        let path = "/v1/clients/\(fixture.makeClient())/cookies"
        let body = #"{"url":"http://127.0.0.1:8090/","cookies":[{"name":"a","value":"1"}]}"#
        #expect(fixture.perform("POST", path, body).status == 204)
        #expect(fixture.perform("GET", path).json["cookies"]?.array?.first?["name"]?.string == "a")
        let other = "/v1/clients/\(fixture.makeClient())/cookies"
        #expect(fixture.perform("GET", other).json["cookies"]?.array?.isEmpty == true)
        #expect(fixture.perform("POST", path, #"{"url":"x","cookies":[{"name":"a b"}]}"#).pointers.count == 3)
        #expect(fixture.perform("DELETE", path).status == 204)
        #expect(fixture.perform("GET", path).json["cookies"]?.array?.isEmpty == true)
    }

    @Test func aBadSequenceIsRefusedInEveryState() {
        let path = "/v1/clients/\(fixture.makeClient())/messages"
        #expect(fixture.perform("POST", path, #"{"text":"x","sequence":"a b"}"#).pointers == ["/sequence"])
        #expect(
            fixture.perform("POST", path, #"{"text":"x","sequence":"s","delayTimeout":-1}"#).pointers == [
                "/delayTimeout"
            ]
        )
        #expect(fixture.perform("POST", path, #"{"text":"x","delayTimeout":1}"#).pointers == ["/delayTimeout"])
        #expect(fixture.perform("POST", path, #"{"text":"x"}"#).status == 202)
    }
}
