import Changes
import EventHub
import JSONText
import MicroHTTPD
import Primitives
import SessionCore
import Synchronization
import Testing

@testable import Gateway

@Suite struct ModelContextTests {
    private static let version = HTTPField("MCP-Protocol-Version", "2025-11-25")

    private static func access() -> AccessConfiguration {
        var access = AccessFixture.keys()
        access.keys.append(
            AccessFixture.key(
                "quotes",
                "lsg_quotes",
                Rights(
                    operations: [.read, .subscribe],
                    upstreams: [WildcardPattern("*")],
                    items: [WildcardPattern("*")],
                    feeds: [WildcardPattern("quotes")]
                )
            )
        )
        return access
    }

    private static func feed(_ name: String, of items: String) -> FeedConfiguration {
        var feed = FeedConfiguration(name: name)
        feed.upstream = "demo"
        feed.items = [FeedItem(items)].compactMap(\.self)
        feed.fields = [FeedField("price", "number EUR")].compactMap(\.self)
        return feed
    }

    private static func fixture() async throws -> AccessFixture {
        try await AccessFixture(access()) { configuration in
            configuration.feeds = ["quotes", "secrets"].map { feed($0, of: "item{1…2}") }
        }
    }

    /// A response of the client.
    private static let answer = #"{"jsonrpc":"2.0","id":1,"result":{}}"#

    private static func message(_ method: String, _ params: String = "{}") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    /// The id of a new session.
    private static func session(_ fixture: AccessFixture, as key: String) throws -> HTTPField {
        let outcome = fixture.perform("POST", "/mcp", as: key, message("initialize"))
        return HTTPField("Mcp-Session-Id", try #require(outcome.headers["Mcp-Session-Id"]))
    }

    @Test func initializeAgreesOnAVersionAndBeginsASession() async throws {
        let fixture = try await Self.fixture()
        for (requested, agreed) in [("2025-06-18", "2025-06-18"), ("2025-11-25", "2025-11-25"), ("1", "2025-11-25")] {
            let body = Self.message("initialize", #"{"protocolVersion":"\#(requested)"}"#)
            let outcome = fixture.perform("POST", "/mcp", as: AccessFixture.alice, body)
            #expect(outcome.status == 200)
            #expect(outcome.json["result"]?["protocolVersion"]?.string == agreed)
            #expect(outcome.headers["Mcp-Session-Id"].map(MCPSessions.isID) == true)
        }
    }

    @Test func callersNeedCredentialsAndSeeWhatTheyMayUse() async throws {
        let fixture = try await Self.fixture()
        for method in ["GET", "POST", "DELETE"] { #expect(fixture.perform(method, "/mcp").status == 401) }
        func tools(_ key: String) -> [String] {
            let outcome = fixture.perform("POST", "/mcp", as: key, Self.message("tools/list"))
            return outcome.json["result"]?["tools"]?.array?.compactMap { $0["name"]?.string } ?? []
        }
        #expect(tools(AccessFixture.admin) == ["list_feeds", "read", "wait_for_change", "send"])
        #expect(tools("lsg_quotes") == ["list_feeds", "read", "wait_for_change"])
        let list = fixture.perform("POST", "/mcp", as: "lsg_quotes", Self.message("resources/list"))
        #expect(list.json["result"]?["resources"]?.array?.compactMap { $0["uri"]?.string } == ["feed://quotes"])
        let described = fixture.perform("POST", "/mcp", as: "lsg_quotes", Self.message("tools/list")).text
        #expect(described.contains("price (number EUR)") && !described.contains("secrets"))
    }

    /// Each call of these tools was refused.
    @Test func valuesAreOfferedToCallersThatMayReadThem() async throws {
        var access = Self.access()
        access.keys.append(
            AccessFixture.key(
                "reader",
                "lsg_reader",
                Rights(operations: [.read], upstreams: [WildcardPattern("*")], items: [WildcardPattern("*")])
            )
        )
        let fixture = try await AccessFixture(access) { configuration in
            configuration.feeds = ["quotes", "news"].map { Self.feed($0, of: "item1") }
        }
        func list(_ kind: String, as key: String) -> [String] {
            let outcome = fixture.perform("POST", "/mcp", as: key, Self.message("\(kind)/list"))
            return outcome.json["result"]?[kind]?.array?.compactMap { $0["name"]?.string } ?? []
        }
        #expect(list("tools", as: "lsg_reader") == ["list_feeds"])
        #expect(list("resources", as: "lsg_reader") == [])
        #expect(list("tools", as: "lsg_quotes") == ["list_feeds", "read", "wait_for_change"])
        #expect(list("resources", as: "lsg_quotes") == ["quotes"])
    }

    /// The response to a request, which may be sent later.
    private static func response(_ fixture: AccessFixture, as key: String, _ body: String) -> JSONValue {
        let sent = Mutex(JSONValue.null)
        let decision = fixture.host.decide(HTTPRequest("POST", "/mcp", as: key, [], body)) { response in
            sent.withLock { $0 = Fixture.outcome(response).json }
        }
        if case .respond(let response) = decision { return Fixture.outcome(response).json }
        return sent.withLock { $0 }
    }

    @Test func aFeedOfOthersIsUnknownAndAMessageNeedsItsRight() async throws {
        let fixture = try await Self.fixture()
        for uri in ["feed://secrets", "feed://secrets/item1", "feed://x", "http://quotes", "feed://quotes/a/b", ""] {
            let body = Self.message("resources/read", #"{"uri":"\#(uri)"}"#)
            #expect(
                Self.response(fixture, as: "lsg_quotes", body)["error"]?["code"]?.number?.intValue == -32_002,
                "\(uri)"
            )
        }
        for call in [
            #"{"name":"read","arguments":{"feed":"secrets"}}"#, #"{"name":"send","arguments":{"text":"x"}}"#,
        ] {
            let response = Self.response(fixture, as: "lsg_quotes", Self.message("tools/call", call))
            #expect(response["result"]?["isError"]?.bool == true, "\(call): \(response.text)")
        }
    }

    /// They were errors of the protocol, which clients do not show to a model.
    @Test(arguments: [
        (#"{"name":"read"}"#, "feed must be a name."),
        (#"{"name":"read","arguments":{"fed":"quotes"}}"#, #"There is no argument "fed"."#),
        (#"{"name":"read","arguments":{"feed":"quotes","items":[]}}"#, "items must be a list of names."),
        (#"{"name":"read","arguments":{"feed":"quotes","items":["a",""]}}"#, "items must be a list of names."),
        (#"{"name":"wait_for_change","arguments":{"feed":"quotes","seconds":0}}"#, "seconds must be 1 … 50."),
        (
            #"{"name":"wait_for_change","arguments":{"feed":"quotes","cursor":"\"\r\nX: y"}}"#,
            "cursor must be one that read has returned."
        ), (#"{"name":"list_feeds","arguments":{"limit":true}}"#, #"There is no argument "limit", or it is no text."#),
    ])
    func argumentsOutsideOfTheSchemaAreResultsThatAModelSees(params: String, rule: String) async throws {
        let fixture = try await Self.fixture()
        let response = Self.response(fixture, as: AccessFixture.admin, Self.message("tools/call", params))
        #expect(response["result"]?["isError"]?.bool == true, "\(response.text)")
        #expect(response["result"]?["content"]?.array?.first?["text"]?.string == rule, "\(response.text)")
    }

    @Test(arguments: [#"{"name":"x"}"#, "{}", #"{"name":"read","arguments":[]}"#])
    func callsOfNoToolAreErrorsOfTheProtocol(params: String) async throws {
        let fixture = try await Self.fixture()
        let response = Self.response(fixture, as: AccessFixture.admin, Self.message("tools/call", params))
        #expect(response["error"]?["code"]?.number?.intValue == -32_602, "\(response.text)")
    }

    @Test func namesMayHaveCommas() async throws {
        let fixture = try await AccessFixture(Self.access()) { configuration in
            var feed = FeedConfiguration(name: "quotes")
            feed.upstream = "demo"
            feed.items = ["a,b", "c"].compactMap { FeedItem($0) }
            feed.fields = [FeedField("x,y", "number")].compactMap(\.self)
            configuration.feeds = [feed]
        }
        func read(_ items: String) -> String {
            let call = #"{"name":"read","arguments":{"feed":"quotes","items":\#(items),"fields":["x,y"]}}"#
            return Self.message("tools/call", call)
        }
        // Values do not arrive without a server.
        for items in [#"["a,b"]"#, #"["c","a,b"]"#] {
            #expect(fixture.perform("POST", "/mcp", as: AccessFixture.admin, read(items)).isWaiting)
        }
        let response = Self.response(fixture, as: AccessFixture.admin, read(#"["a","b"]"#))
        #expect(response["result"]?["isError"]?.bool == true)
    }

    @Test(arguments: [
        ("", 400), ("{", 400), ("[]", 400), (#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 400), ("{}", 400),
        (#"{"jsonrpc":"2.0"}"#, 400), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, 400),
        (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, 400), (#"{"jsonrpc":"2.0","id":[],"method":"ping"}"#, 400),
        (#"{"jsonrpc":"2.0","id":1,"method":1}"#, 400), (#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#, 400),
        (#"{"jsonrpc":"2.0","id":1,"method":"ping","more":1}"#, 400),
        (#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 202),
        (#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 202),
        (#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#, 200),
    ])
    func onlyMessagesOfJSONRPCAreAccepted(body: String, status: Int) async throws {
        let fixture = try await Self.fixture()
        let outcome = fixture.perform("POST", "/mcp", as: AccessFixture.admin, body, [Self.version])
        #expect(outcome.status == status, "\(outcome.text)")
        if status == 200 { #expect(outcome.text == #"{"jsonrpc":"2.0","id":"a","result":{}}"# + "\n") }
    }

    /// A request that waits retains them.
    @Test func parametersThatNoMethodHasAreReleased() throws {
        let params = #"{"_meta":{"a":[[],[]]},"x":1,"name":"read"}"#
        let text = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":\#(params)}"#
        let object = try #require(try JSONValue(parsing: Array(text.utf8)).object)
        #expect(try MCPRequest(object)?.params.map(\.name) == ["name"])
    }

    @Test func anUnknownMethodIsAnErrorAndAnUnknownVersionIsRefused() async throws {
        let fixture = try await Self.fixture()
        let outcome = fixture.perform("POST", "/mcp", as: AccessFixture.admin, Self.message("prompts/list"))
        #expect(outcome.status == 200 && outcome.json["error"]?["code"]?.number?.intValue == -32_601)
        let old = HTTPField("MCP-Protocol-Version", "2024-11-05")
        for (method, body) in [("POST", Self.message("ping")), ("POST", Self.answer), ("GET", ""), ("DELETE", "")] {
            #expect(fixture.perform(method, "/mcp", as: AccessFixture.admin, body, [old]).status == 400)
        }
    }

    @Test(arguments: [
        ModelContextTests.message("ping"), ModelContextTests.answer,
        #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ])
    func aMessageWithAnIDThatNoSessionHasIsRefused(body: String) async throws {
        let fixture = try await Self.fixture()
        let session = HTTPField("Mcp-Session-Id", "x")
        #expect(fixture.perform("POST", "/mcp", as: AccessFixture.admin, body, [session]).status == 404)
    }

    @Test func aPageOfAnotherOriginIsRefused() async throws {
        var access = AccessConfiguration()
        access.hosts = ["gateway.example"]
        let fixture = try await AccessFixture(access)
        let origin = HTTPField("Origin", "https://evil.example")
        #expect(fixture.perform("POST", "/mcp", as: nil, Self.message("ping"), [origin]).status == 403)
        #expect(fixture.perform("POST", "/mcp", as: nil, Self.message("ping")).status == 200)
    }

    @Test func aSessionBelongsToItsCallerUntilItEnds() async throws {
        let fixture = try await Self.fixture()
        let session = try Self.session(fixture, as: AccessFixture.alice)
        let subscribe = Self.message("resources/subscribe", #"{"uri":"feed://quotes"}"#)
        #expect(fixture.perform("GET", "/mcp", as: AccessFixture.alice).status == 400)
        for (key, header) in [
            (AccessFixture.bob, session), (AccessFixture.alice, HTTPField("Mcp-Session-Id", "m")),
            (AccessFixture.alice, HTTPField("Mcp-Session-Id", "m" + String(repeating: "A", count: 43))),
        ] {
            #expect(fixture.perform("GET", "/mcp", as: key, "", [header]).status == 404)
            #expect(fixture.perform("POST", "/mcp", as: key, subscribe, [header]).status == 404)
            #expect(fixture.perform("DELETE", "/mcp", as: key, "", [header]).status == 404)
        }
        #expect(fixture.perform("GET", "/mcp", as: AccessFixture.alice, "", [session]).isWaiting)
        let json = HTTPField("Accept", "application/json")
        #expect(fixture.perform("GET", "/mcp", as: AccessFixture.alice, "", [session, json]).status == 406)
        #expect(fixture.perform("DELETE", "/mcp", as: AccessFixture.alice, "", [session]).status == 204)
        #expect(fixture.perform("GET", "/mcp", as: AccessFixture.alice, "", [session]).status == 404)
        #expect(fixture.perform("POST", "/mcp", as: AccessFixture.alice, subscribe, [session]).status == 404)
        for body in [Self.message("ping"), Self.answer, Self.message("initialize")] {
            #expect(fixture.perform("POST", "/mcp", as: AccessFixture.alice, body, [session]).status == 404)
        }
    }

    @Test func aNewerGetEndsAnEarlierOne() async throws {
        let fixture = try await Self.fixture()
        let session = try Self.session(fixture, as: AccessFixture.alice)
        let (ended, source) = AsyncStream.makeStream(of: String.self)
        let request = HTTPRequest("GET", "/mcp", as: AccessFixture.alice, [session])
        let first = fixture.host.decide(request) { source.yield(Fixture.outcome($0).text) }
        let second = fixture.host.decide(request) { _ in source.yield("the newer one") }
        guard case (.wait, .wait) = (first, second) else {
            Issue.record("a request does not wait")
            return
        }
        #expect(await ended.first { _ in true } == "retry: 100\n\n")
    }

    @Test func aChangeIsNewUntilItsNotificationIsSent() async throws {
        let fixture = try await Self.fixture()
        let admin = AccessFixture.admin
        let header = try Self.session(fixture, as: admin)
        let caller = Caller(identity: "key:admin")
        let session = try #require(fixture.services.mcpSessions.session(header.value, of: caller, at: .zero))
        let (_, stream) = fixture.open("GET", "/feeds/quotes/item1?format=sse", as: admin)
        let source = try #require(fixture.hub.stream(stream?.id ?? "")?.request.sources.first)
        let layout = SubscriptionLayout(
            itemNames: ["item1"],
            fieldNames: ["price"],
            fieldCount: 1,
            keyPosition: nil,
            commandPosition: nil
        )
        let changed = FieldSet(all: 1)
        let update = ItemUpdate(layout: layout, itemPos: 1, isSnapshot: true, values: ["1"], changed: changed)
        for event in [
            SubscriptionEvent.subscribed(itemCount: 1, fieldCount: 1, keyPosition: nil, commandPosition: nil),
            .update(update),
        ] {
            fixture.hub.take(.subscription(SubscriptionID(source.id), .event(event)))
        }
        #expect(session.subscribe("feed://quotes/item1", cursor: "former"))
        // The next notification follows a second later.
        session.notified(at: fixture.time.moment)
        let (responses, sent) = AsyncStream.makeStream(of: String.self)
        let request = HTTPRequest("GET", "/mcp", as: admin, [header])
        guard case .wait = fixture.host.decide(request, later: { sent.yield(Fixture.outcome($0).text) }) else {
            Issue.record("the request does not wait")
            return
        }
        #expect(session.cursors.first?.cursor == "former")
        // A newer request ends the wait of the first one.
        _ = fixture.host.decide(request) { _ in }
        let response = await responses.first { _ in true }
        #expect(response?.contains("feed://quotes/item1") == true)
        #expect(session.cursors.first?.cursor != "former")
        stream?.onEnd(.neverOpened)
    }

    @Test func aHeadIsAnsweredAndLeavesTheGetOfItsSession() async throws {
        let fixture = try await Self.fixture()
        let session = try Self.session(fixture, as: AccessFixture.alice)
        let (ended, source) = AsyncStream.makeStream(of: String.self)
        let get = fixture.host.decide(HTTPRequest("GET", "/mcp", as: AccessFixture.alice, [session])) { _ in
            source.yield("response")
        }
        guard case .wait = get else {
            Issue.record("the request does not wait")
            return
        }
        let head = fixture.perform("HEAD", "/mcp", as: AccessFixture.alice, "", [session])
        #expect(head.status == 200 && head.isStream)
        #expect(head.headers["Content-Type"] == "text/event-stream")
        #expect(fixture.perform("HEAD", "/mcp", as: AccessFixture.bob, "", [session]).status == 404)
        source.yield("end")
        #expect(fixture.perform("DELETE", "/mcp", as: AccessFixture.alice, "", [session]).status == 204)
        #expect(await ended.first { _ in true } == "end")
    }

    /// A session that only called tools made room before sessions that were never used.
    @Test func aSessionIsUsedByEveryRequestThatNamesIt() async throws {
        let fixture = try await Self.fixture()
        let (used, unused) = (
            try Self.session(fixture, as: AccessFixture.alice), try Self.session(fixture, as: AccessFixture.alice)
        )
        func status(_ session: HTTPField) -> Int {
            fixture.perform("POST", "/mcp", as: AccessFixture.alice, Self.message("ping"), [session]).status
        }
        fixture.time.pass(1)
        #expect(status(used) == 200)
        for _ in 0..<99 { _ = try Self.session(fixture, as: AccessFixture.alice) }
        #expect(status(used) == 200)
        #expect(status(unused) == 404)
    }

    @Test func notificationsAreASecondApart() {
        let session = MCPSession(owner: nil)
        let now = Moment.zero + .seconds(10)
        #expect(session.pause(at: now) == .zero)
        session.notified(at: now)
        #expect(session.pause(at: now + .milliseconds(300)) == .milliseconds(700))
        #expect(session.pause(at: now + .seconds(2)) == .zero)
    }
}
