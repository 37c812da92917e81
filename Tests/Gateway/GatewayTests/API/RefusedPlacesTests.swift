import JSONText
import Testing

@testable import Gateway

/// Problems name the value of the query or body that the gateway refused.
@Suite struct RefusedPlacesTests {
    private let fixture = Fixture()

    /// Checks a problem with one entry.
    private func check(_ outcome: Fixture.Outcome, code: String, place: String) {
        #expect(outcome.code == code, "\(outcome.text)")
        #expect(outcome.pointers == [place], "\(outcome.text)")
        let entry = outcome.json["errors"]?.array?.first
        #expect(entry?["code"]?.string == code)
        #expect(entry?["detail"]?.string?.hasSuffix(".") == true)
    }

    @Test(arguments: [
        ("/v1/stream?upstream=nope&items=a&fields=b", "unknown-upstream", "upstream"),
        ("/v1/values?upstream=nope&items=a&fields=b", "unknown-upstream", "upstream"),
        ("/v1/stream?subscription=nope", "unknown-subscription", "subscription"),
        ("/v1/stream?client=nope", "unknown-client", "client"),
    ])
    func unknownNamesOfAQueryAreNamed(target: String, code: String, parameter: String) {
        check(fixture.perform("GET", target), code: code, place: parameter)
    }

    @Test func theUnknownUpstreamOfAMessageIsNamed() {
        let outcome = fixture.perform("POST", "/v1/messages?upstream=nope", #"{"text":"x"}"#)
        check(outcome, code: "unknown-upstream", place: "upstream")
    }

    /// They were members that do not exist, without a hint.
    @Test func membersThatBelongElsewhereAreExplained() {
        let message = fixture.perform("POST", "/v1/messages", #"{"text":"x","upstream":"demo"}"#)
        check(message, code: "unknown-member", place: "/upstream")
        #expect(message.json["detail"]?.string == "upstream: It is a parameter of the query: ?upstream=NAME.")
        let stream = fixture.perform("POST", "/v1/streams", #"{"source":[]}"#)
        #expect(stream.json["detail"]?.string == "source: There is no such member. Did you mean sources?")
    }

    @Test func theMissingUpstreamOfAMessageIsNamed() {
        let several = Fixture(upstreams: ["one", "two"])
        check(several.perform("POST", "/v1/messages", #"{"text":"x"}"#), code: "missing-member", place: "upstream")
        let target = "/v1/values?items=a&fields=b"
        check(several.perform("GET", target), code: "missing-member", place: "upstream")
    }

    @Test(arguments: [
        ("/v1/clients", #"{"upstream":"nope"}"#, "unknown-upstream", "/upstream"),
        ("/v1/clients", #"{"serverAddress":"http://x.example"}"#, "upstream-not-allowed", "/serverAddress"),
        (
            "/v1/subscriptions", #"{"upstream":"nope","items":["a"],"fields":["b"]}"#, "unknown-upstream", "/upstream"
        ), ("/v1/subscriptions", #"{"client":"nope","items":["a"],"fields":["b"]}"#, "unknown-client", "/client"),
        ("/v1/streams", #"{"upstream":"nope","items":["a"],"fields":["b"]}"#, "unknown-upstream", "/upstream"),
        (
            "/v1/streams", #"{"sources":[{"items":["a"],"fields":["b"]},{"client":"nope"}]}"#, "unknown-client",
            "/sources/1/client"
        ),
    ])
    func unknownNamesOfABodyAreNamed(path: String, body: String, code: String, pointer: String) {
        check(fixture.perform("POST", path, body), code: code, place: pointer)
    }

    @Test func theMembersOfASourceAreNamed() {
        let outcome = fixture.perform("POST", "/v1/streams", #"{"sources":[{}]}"#)
        check(outcome, code: "missing-member", place: "/sources/0/subscription")
        let rule = "A subscription, a client, a feed, or items and fields are required."
        #expect(outcome.json["errors"]?.array?.first?["detail"]?.string == rule)
    }

    @Test func refusalsOfAPatchAreNamed() {
        let details = "/v1/clients/\(fixture.makeClient())/details"
        let address = fixture.perform("PATCH", details, #"{"serverAddress":"http://x.example"}"#)
        check(address, code: "upstream-not-allowed", place: "/serverAddress")
        let body = #"{"sources":[{"subscription":"\#(fixture.makeSubscription())"}]}"#
        let stream = fixture.perform("POST", "/v1/streams", body).headers["Location"] ?? ""
        let source = fixture.perform("PATCH", stream, #"{"add":[{"subscription":"nope"}]}"#)
        check(source, code: "unknown-subscription", place: "/add/0/subscription")
    }

    @Test(arguments: [
        ("item=nope", "unknown-item", "item"), ("itemPos=9", "unknown-item", "itemPos"),
        ("item=i1&field=nope", "unknown-field", "field"), ("item=i1&fieldPos=9", "unknown-field", "fieldPos"),
        ("field=f1", "unknown-item", "item"),
    ])
    func theParameterOfAValueThatIsUnknownIsNamed(query: String, code: String, parameter: String) {
        let values = "/v1/subscriptions/\(fixture.makeSubscription())/values?\(query)"
        check(fixture.perform("GET", values), code: code, place: parameter)
    }

    @Test func aNameOfThePathHasNoEntry() {
        for path in ["/v1/upstreams/nope", "/v1/clients/nope/events", "/v1/subscriptions/nope/events"] {
            let outcome = fixture.perform("GET", path)
            #expect(outcome.status == 404 && outcome.pointers.isEmpty, "\(path): \(outcome.text)")
        }
    }

    @Test(arguments: [
        ("/v1/clients", #"{"upstream":"secret"}"#, "/upstream"),
        ("/v1/clients", #"{"serverAddress":"http://127.0.0.1:9"}"#, "/serverAddress"),
        ("/v1/messages?upstream=secret", #"{"text":"x"}"#, "upstream"),
        ("/v1/subscriptions", #"{"upstream":"secret","items":["item1"],"fields":["f"]}"#, "/upstream"),
        ("/v1/subscriptions", #"{"upstream":"demo","items":["item1","x"],"fields":["f"]}"#, "/items/1"),
        ("/v1/subscriptions", #"{"upstream":"demo","itemGroup":"x","fields":["f"]}"#, "/itemGroup"),
        ("/v1/streams", #"{"upstream":"demo","items":["own"],"fields":["f"],"dataAdapter":"A"}"#, "/dataAdapter"),
        ("/v1/streams", #"{"upstream":"demo","items":["own"],"fields":["f"],"selector":"s"}"#, "/selector"),
        ("/v1/streams", #"{"sources":[{"upstream":"demo","items":["x"],"fields":["f"]}]}"#, "/sources/0/items/0"),
        (
            "/v1/streams",
            #"{"upstream":"demo","mode":"COMMAND","items":["own"],"fields":["key","command"],"#
                + #""commandSecondLevelFields":["f"]}"#,
            "/commandSecondLevelFields"
        ),
        ("/v1/stream?upstream=secret&items=item1&fields=f", "", "upstream"),
        ("/v1/stream?upstream=demo&items=item1,x&fields=f", "", "items"),
        ("/v1/values?upstream=demo&item=x&fields=f", "", "item"),
        ("/v1/values?upstream=demo&items=own&fields=f&selector=s", "", "selector"),
    ])
    func whatTheRightsDoNotCoverIsNamed(target: String, body: String, place: String) async throws {
        let fixture = try await AccessFixture()
        let method = body.isEmpty ? "GET" : "POST"
        check(fixture.perform(method, target, as: AccessFixture.alice, body), code: "forbidden", place: place)
    }

    /// A right that is missing is no part of the input.
    @Test func aMissingRightHasNoEntry() async throws {
        let fixture = try await AccessFixture()
        let body = #"{"upstream":"demo","items":["item1"],"fields":["f"]}"#
        let outcome = fixture.perform("POST", "/v1/streams", as: AccessFixture.reader, body)
        #expect(outcome.code == "forbidden" && outcome.pointers.isEmpty, "\(outcome.text)")
    }

    @Test(arguments: ["access_token=x", "api_key=x&token=y"])
    func parametersThatMayHoldAKeyAreNamed(query: String) async throws {
        let fixture = try await AccessFixture()
        let outcome = fixture.perform("GET", "/v1/clients?\(query)")
        let names = query.split(separator: "&").map { String($0.prefix { $0 != "=" }) }
        #expect(outcome.code == "malformed" && outcome.pointers == names, "\(outcome.text)")
    }

    /// They were an unexpected byte 239, and an unexpected end of text.
    @Test(arguments: [
        ("", "The body is empty. A JSON object is expected."),
        ("\u{FEFF}{}", "The body is not JSON: byte order mark at line 1, column 1."),
    ])
    func bodiesThatAreOftenSentByMistakeAreNamed(body: String, detail: String) {
        let refused = fixture.perform("POST", "/v1/messages", body, ["Content-Type": "application/json"])
        #expect(refused.status == 400)
        #expect(refused.json["detail"]?.string == detail)
    }
}
