import MicroHTTPD
import SessionCore
import SessionPool
import Testing

@testable import Gateway
@testable import LightstreamerClient

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

    @Test func tagsAreOverAllMembersButFigures() throws {
        let fixture = Fixture(upstreams: ["demo", "other"])
        var tags = [fixture.perform("GET", "/v1/upstreams/other").headers["ETag"] ?? ""]
        func isNew() -> Bool {
            let tag = fixture.perform("GET", Self.path).headers["ETag"] ?? ""
            defer { tags.append(tag) }
            let isKnown =
                fixture.perform("GET", Self.path, "", ["If-None-Match": tags.joined(separator: ", ")]).status == 304
            #expect(isKnown == tags.contains(tag))
            return !isKnown
        }
        #expect(isNew())
        _ = fixture.makeClient()
        #expect(!isNew())
        let client = try #require(fixture.services.pool.clients().first)
        func refuse(_ code: Int, _ message: String) {
            let refusal = UpstreamRefusal(code: code, message: message)
            client.core.core.state.withLock { $0.attempt.failed(.serverError, refusal: refusal) }
            client.client(client.core, emitted: .status(.disconnected))
            client.client(client.core, emitted: .serverError(code: code, message: message))
        }
        refuse(2, "Requested Adapter Set not available")
        #expect(isNew())
        // Another attempt.
        refuse(2, "Requested Adapter Set not available")
        #expect(!isNew())
        refuse(7, "License limit reached")
        #expect(isNew())
        var pool = fixture.services.pool.settings.configuration
        pool.upstreams[0].serverAddress = "http://127.0.0.1:10"
        fixture.services.pool.reload(pool)
        #expect(isNew())
    }

    @Test func theListIsInTheOrderOfTheNames() {
        let fixture = Fixture(upstreams: ["sport", "quotes", "news"])
        func names(_ query: String) -> [String?]? {
            fixture.perform("GET", "/v1/upstreams" + query).json["upstreams"]?.array?.map { $0["name"]?.string }
        }
        #expect(names("") == ["news", "quotes", "sport"])
        #expect(names("?limit=2") == ["news", "quotes"])
    }

    @Test func onlyCallersThatManageAllUpstreamsMayChangeIt() async throws {
        let fixture = try await AccessFixture()
        defer { SessionLimit().apply() }
        let body = #"{"maxConcurrentSessionsPerServer":2}"#
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.reader, body).status == 403)
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.alice, body).status == 403)
        #expect(fixture.perform("PATCH", Self.path, as: AccessFixture.admin, body).status == 200)
    }

    /// The failure of a dedicated client has the message of the server to its owner.
    @Test func theFailureOfAClientIsShownToCallersThatSeeTheClient() async throws {
        let fixture = try await AccessFixture()
        #expect(!fixture.makeClient(as: AccessFixture.alice).isEmpty)
        let client = try #require(fixture.services.pool.clients().first)
        func shown(to key: String) -> [String?] {
            let upstream = fixture.perform("GET", Self.path, as: key).json
            let listed = fixture.perform("GET", "/v1/upstreams", as: key).json["upstreams"]?.array?.first
            let health = fixture.perform("GET", "/health", as: key).json["upstreams"]?.array?.first
            return [upstream, listed, health].map { $0?["lastFailure"]?["detail"]?.string }
        }
        let tag = fixture.perform("GET", Self.path, as: AccessFixture.bob).headers["ETag"]
        let refusal = UpstreamRefusal(code: -7, message: "account of alice closed")
        client.core.core.state.withLock { $0.attempt.failed(.serverError, refusal: refusal) }
        client.client(client.core, emitted: .status(.disconnected))
        client.client(client.core, emitted: .serverError(code: refusal.code, message: refusal.message))
        for key in [AccessFixture.alice, AccessFixture.admin] {
            #expect(shown(to: key).allSatisfy { $0?.contains(refusal.message) == true })
        }
        for key in [AccessFixture.bob, AccessFixture.reader] { #expect(shown(to: key) == [nil, nil, nil]) }
        #expect(fixture.perform("GET", Self.path, as: AccessFixture.bob).headers["ETag"] == tag)
    }
}
