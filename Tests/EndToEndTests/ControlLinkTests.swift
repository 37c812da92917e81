internal import DemoServer
internal import Foundation
internal import Gateway
internal import JSONText
internal import SessionCore
internal import SessionPool
internal import Testing

/// Control links are followed to allowed addresses only, for every kind of client.
@Suite struct ControlLinkTests {
    private static var sendingAway: DemoServerConfiguration {
        var configuration = DemoServerConfiguration()
        configuration.controlLink = "localhost"
        return configuration
    }

    private static func instanceAddress(_ url: String, _ body: String) async throws -> JSONValue? {
        let made = try await call("POST", url + "/v1/clients", json: body, headers: ["Prefer": "wait=60"])
        #expect(made.status == 201)
        return made["serverInstanceAddress"]
    }

    @Test func linkOutsideTheListIsNotFollowed() async throws {
        try await DemoFixture.run(server: Self.sendingAway) { demo in
            let address = try await Self.instanceAddress(demo.url, #"{"upstream":"demo"}"#)
            #expect(address?.isNull == true)
        }
    }

    @Test func linkOfAChangedAddressIsNotFollowedEither() async throws {
        try await DemoFixture.run(
            server: Self.sendingAway,
            configure: { $0.pool.allowedAddresses = AddressAllowList([.init(host: "127.0.0.1", port: nil)]) }
        ) { demo in
            let first = #"{"serverAddress":"http://127.0.0.1:1/","adapterSet":"DEMO","connect":false}"#
            let made = try await call("POST", demo.url + "/v1/clients", json: first)
            let path = demo.url + (made.header("Location") ?? "")
            let patch = #"{"serverAddress":"\#(demo.serverURL)/"}"#
            #expect(try await call("PATCH", path + "/details", json: patch).status == 200)
            let connected = try await call("POST", path + "/connect", headers: ["Prefer": "wait=60"])
            #expect(connected.status == 200)
            #expect(connected["serverInstanceAddress"]?.isNull == true)
        }
    }

    @Test func linkOnTheListIsFollowed() async throws {
        try await DemoFixture.run(
            server: Self.sendingAway,
            configure: { $0.pool.allowedAddresses = AddressAllowList([.init(host: "localhost", port: nil)]) }
        ) { demo in
            let address = try await Self.instanceAddress(demo.url, #"{"upstream":"demo"}"#)
            #expect(address?.text == "\"http://localhost:\(demo.serverPort)\"")
        }
    }

    @Test func linkThatTheUpstreamIsConfiguredWithIsFollowed() async throws {
        try await DemoFixture.run(
            server: Self.sendingAway,
            configure: { $0.pool.upstreams[0].controlLinks = AddressAllowList([.init(host: "localhost", port: nil)]) }
        ) { demo in
            let address = try await Self.instanceAddress(demo.url, #"{"upstream":"demo"}"#)
            #expect(address?.isNull == false)
        }
    }
}
