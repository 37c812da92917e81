import Foundation
import Logging
import MicroHTTPD
import Synchronization
import Testing

@testable import Gateway

/// A reload takes rights away from callers that have clients, subscriptions, streams and waiting requests.
@Suite struct RevocationTests {
    private static let alice = AccessFixture.alice
    private static let bob = AccessFixture.bob

    private static func configuration(_ access: AccessConfiguration) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.access = access
        configuration.pool.upstreams = AccessFixture.upstreams
        return configuration
    }

    /// A gateway without sockets.
    private static func gateway(_ access: AccessConfiguration = AccessFixture.keys()) async throws -> Gateway {
        let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let gateway = Gateway(configuration: configuration(access), logger: quiet)
        _ = try await gateway.reload(configuration(access))
        return gateway
    }

    /// The response to a request, which `later` gets if it waits.
    private static func perform(
        _ gateway: Gateway,
        _ method: String,
        _ target: String,
        as key: String,
        _ body: String = "",
        _ headers: [HTTPField] = [],
        later: @escaping @Sendable (HTTPResponse) -> Void = { _ in }
    ) -> Fixture.Outcome {
        let request = HTTPRequest(method, target, as: key, headers, body)
        switch gateway.host.decide(request, later: later) {
        case .respond(let response): return Fixture.outcome(response)
        case .wait: return Fixture.Outcome(isWaiting: true)
        case .stream: return Fixture.Outcome(status: 200, isStream: true)
        }
    }

    /// Creates a client, or a subscription, and returns its id.
    private static func make(_ gateway: Gateway, _ kind: String, as key: String, _ members: String) -> String {
        perform(gateway, "POST", "/v1/\(kind)", as: key, "{\(members)}").json["id"]?.string ?? ""
    }

    private static func makeClient(_ gateway: Gateway, as key: String) -> String {
        make(gateway, "clients", as: key, #""upstream":"demo","connect":false"#)
    }

    private static func subscribe(_ gateway: Gateway, as key: String, _ carrier: String, item: String) -> String {
        let properties = #""mode":"MERGE","items":["\#(item)"],"fields":["f"],"active":false"#
        return make(gateway, "subscriptions", as: key, "\(carrier),\(properties)")
    }

    private static func ids(_ gateway: Gateway) -> Set<String> {
        Set(gateway.pool.clients().map(\.id.rawValue) + gateway.pool.resources().map(\.id.rawValue))
    }

    @Test func aReloadEndsWhatTheNewRightsDoNotCover() async throws {
        let gateway = try await Self.gateway()
        let client = Self.makeClient(gateway, as: Self.alice)
        let kept = Self.subscribe(gateway, as: Self.alice, #""client":"\#(client)""#, item: "item1")
        let lost = Self.subscribe(gateway, as: Self.alice, #""client":"\#(client)""#, item: "item2")
        let pooled = Self.subscribe(gateway, as: Self.alice, #""upstream":"demo""#, item: "item2")
        let other = Self.subscribe(gateway, as: Self.bob, #""upstream":"demo""#, item: "item2")
        #expect(Self.ids(gateway) == [client, kept, lost, pooled, other])
        var access = AccessFixture.keys()
        access.keys[1].rights.items = [WildcardPattern("item1")]
        _ = try await gateway.reload(Self.configuration(access))
        #expect(Self.ids(gateway) == [client, kept, other])
        access.keys[1].rights.upstreams = [WildcardPattern("secret")]
        _ = try await gateway.reload(Self.configuration(access))
        #expect(Self.ids(gateway) == [other])
    }

    @Test func aReloadEndsDedicatedClientsWithoutTheRightToThem() async throws {
        let gateway = try await Self.gateway()
        let client = Self.makeClient(gateway, as: Self.alice)
        var access = AccessFixture.keys()
        access.keys[1].rights.rate = 1000
        access.keys[1].hash = KeyHash(of: "lsg_rotated")
        _ = try await gateway.reload(Self.configuration(access))
        #expect(Self.ids(gateway) == [client])
        access.keys[1].rights.operations = [.read, .subscribe]
        _ = try await gateway.reload(Self.configuration(access))
        #expect(Self.ids(gateway).isEmpty)
    }

    @Test func aReloadEndsWaitingRequestsOfChangedCredentials() async throws {
        let gateway = try await Self.gateway()
        let responses = Mutex<[String: Int]>([:])
        for (name, key) in [("alice", Self.alice), ("bob", Self.bob)] {
            let id = Self.subscribe(gateway, as: key, #""upstream":"demo""#, item: "item1")
            let target = "/v1/subscriptions/\(id)/values"
            let tag = Self.perform(gateway, "GET", target, as: key).headers["ETag"] ?? ""
            let headers = [HTTPField("If-None-Match", tag), HTTPField("Prefer", "wait=60")]
            let poll = Self.perform(gateway, "GET", target, as: key, "", headers) { response in
                responses.withLock { $0[name] = response.status }
            }
            #expect(poll.isWaiting)
        }
        var access = AccessFixture.keys()
        access.keys[1].rights.items = [WildcardPattern("item2")]
        _ = try await gateway.reload(Self.configuration(access))
        #expect(responses.withLock { $0 } == ["alice": 401])
    }

    @Test func aKeyThatLeavesTheConfigurationEndsTheClientsOfItsTokens() async throws {
        var access = TokenForge.configuration()
        access.webTokens.keySet = KeySetLoaderTests.keySet(TokenForge.ellipticKey)
        let gateway = try await Self.gateway(access)
        let rights = #""operations":"read subscribe manage","upstreams":"*","items":"*""#
        let claims = #"{"sub":"carol","exp":\#(Date().timeIntervalSince1970 + 100),\#(rights)}"#
        let tokens = try [
            TokenForge.token(header: #"{"alg":"HS256"}"#, claims: claims, .hs256(TokenForge.secret)),
            TokenForge.token(header: #"{"alg":"ES256"}"#, claims: claims, .es256(TokenForge.ellipticKey)),
        ]
        let clients = tokens.map { Self.makeClient(gateway, as: $0) }
        #expect(Self.ids(gateway) == Set(clients))
        access.webTokens.keySet = nil
        _ = try await gateway.reload(Self.configuration(access))
        #expect(Self.ids(gateway) == [clients[0]])
    }

    @Test func authenticationEndsWhatWasMadeWithoutIt() async throws {
        var open = AccessConfiguration()
        open.hosts = ["gateway.example"]
        let gateway = try await Self.gateway(open)
        #expect(!Self.makeClient(gateway, as: "").isEmpty)
        _ = try await gateway.reload(Self.configuration(AccessFixture.keys()))
        #expect(Self.ids(gateway).isEmpty)
    }

    @Test func aCallerWhoseRightsChangeDuringARequestIsRefused() async throws {
        let fixture = try await AccessFixture()
        let caller = Caller(identity: "key:alice", rights: AccessFixture.keys().keys[1].rights)
        #expect(fixture.services.access.policy.recognises(caller))
        var access = AccessFixture.keys()
        access.keys[1].rights.items = [WildcardPattern("item2")]
        _ = try fixture.services.access.load(access)
        #expect(!fixture.services.access.policy.recognises(caller))
    }
}
