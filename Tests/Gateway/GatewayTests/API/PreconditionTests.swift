import JSONText
import MicroHTTPD
import Testing

@testable import Gateway

/// Preconditions of requests that change or delete a resource.
@Suite struct PreconditionTests {
    private let fixture = Fixture()

    private func make(_ path: String, _ body: String) throws -> String {
        try #require(fixture.perform("POST", path, body).headers["Location"])
    }

    private func makeSubscription() throws -> String {
        let body = #"{"upstream":"demo","mode":"MERGE","items":["a"],"fields":["f"],"active":false}"#
        return try make("/v1/subscriptions", body)
    }

    private var sources: String { #"[{"subscription":"\#(fixture.makeSubscription())"}]"# }

    @Test func aChangeIsRefusedIfIfNoneMatchNamesThePresentTag() throws {
        let client = "/v1/clients/\(fixture.makeClient())"
        let resources = [
            (try makeSubscription(), #"{"selector":"s"}"#),
            (try make("/v1/streams", #"{"sources":\#(sources)}"#), #"{"add":\#(sources)}"#),
            (client + "/options", #"{"retryDelay":7}"#), (client + "/details", #"{"user":"u"}"#),
        ]
        for (path, change) in resources {
            let tag = try #require(fixture.perform("GET", path).headers["ETag"])
            for tags in [tag, "W/\(tag)", "\"x\", \(tag)", "*"] {
                let outcome = fixture.perform("PATCH", path, change, ["If-None-Match": tags])
                #expect(outcome.status == 412, "\(path) \(tags)")
                #expect(outcome.headers["ETag"] == tag)
            }
            let headers = ["If-Match": "\"x\"", "If-None-Match": "\"y\""]
            #expect(fixture.perform("PATCH", path, change, headers).status == 412, "\(path)")
            #expect(fixture.perform("GET", path).headers["ETag"] == tag, "\(path)")
            #expect(fixture.perform("PATCH", path, change, ["If-None-Match": "\"x\""]).status == 200, "\(path)")
        }
    }

    @Test func aDeletionIsRefusedIfIfNoneMatchNamesThePresentTag() throws {
        for path in [try makeSubscription(), try make("/v1/streams", #"{"sources":\#(sources)}"#)] {
            let tag = try #require(fixture.perform("GET", path).headers["ETag"])
            for tags in [tag, "*"] {
                #expect(fixture.perform("DELETE", path, "", ["If-None-Match": tags]).status == 412, "\(path)")
            }
            #expect(fixture.perform("GET", path).status == 200)
            #expect(fixture.perform("DELETE", path, "", ["If-None-Match": "\"x\""]).status == 204, "\(path)")
        }
    }

    @Test func aChangeOfAnUpstreamIsRefusedAsWell() {
        #expect(fixture.perform("PATCH", "/v1/upstreams/demo", "{}", ["If-None-Match": "*"]).status == 412)
    }
}
