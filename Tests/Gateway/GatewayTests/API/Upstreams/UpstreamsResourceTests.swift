import LightstreamerClient
import MicroHTTPD
import SessionPool
import Testing

@testable import Gateway

@Suite(.serialized) struct UpstreamsResourceTests {
    private static let path = "/v1/upstreams/demo"
    private static let limit = "maxConcurrentSessionsPerServer"
    private static let policy = "maxConcurrentSessionsPerServerExceededPolicy"

    @Test func theSessionLimitOfAllClientsChangesAtRunTime() {
        let fixture = Fixture()
        defer { SessionLimit().apply() }
        let tag = fixture.perform("GET", Self.path).headers["ETag"] ?? ""
        let changed = fixture.perform(
            "PATCH",
            Self.path,
            #"{"maxConcurrentSessionsPerServer":9,"maxConcurrentSessionsPerServerExceededPolicy":"BLOCK"}"#,
            ["If-Match": tag]
        )
        #expect(changed.status == 200)
        // At most 6 count.
        #expect(changed.json[Self.limit] == 6 && changed.json[Self.policy] == "BLOCK")
        #expect(ConnectionOptions.maxConcurrentSessionsPerServer == 6)
        #expect(ConnectionOptions.maxConcurrentSessionsPerServerExceededPolicy == .block)
        #expect(fixture.perform("GET", Self.path, "", ["If-None-Match": tag]).status == 200)
        #expect(
            fixture.perform("PATCH", Self.path, #"{"maxConcurrentSessionsPerServer":1}"#, ["If-Match": tag]).status
                == 412
        )
        let present = changed.headers["ETag"] ?? ""
        #expect(fixture.perform("GET", Self.path, "", ["If-None-Match": present]).status == 304)
    }

    @Test(arguments: [
        (#"{"maxConcurrentSessionsPerServer":-1}"#, "/maxConcurrentSessionsPerServer"),
        (#"{"maxConcurrentSessionsPerServer":null}"#, "/maxConcurrentSessionsPerServer"),
        (#"{"maxConcurrentSessionsPerServerExceededPolicy":"WAIT"}"#, "/maxConcurrentSessionsPerServerExceededPolicy"),
        (#"{"serverAddress":"http://x"}"#, "/serverAddress"), (#"{"limit":1}"#, "/limit"),
    ])
    func badValuesChangeNothing(body: String, pointer: String) {
        let fixture = Fixture()
        let outcome = fixture.perform("PATCH", Self.path, body)
        #expect(outcome.status == 422 && outcome.pointers == [pointer])
        #expect(fixture.perform("GET", Self.path).json[Self.limit] == 3)
    }

    @Test func onlyCallersThatManageAllUpstreamsMayChangeIt() async throws {
        let fixture = try await AccessFixture()
        defer { SessionLimit().apply() }
        let body = #"{"maxConcurrentSessionsPerServer":2}"#
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.reader, body).status == 403)
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.alice, body).status == 403)
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.admin, body).status == 200)
    }
}
