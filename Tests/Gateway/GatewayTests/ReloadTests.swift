import Logging
import SessionPool
import Testing

@testable import Gateway

@Suite struct ReloadTests {
    private static func configuration(_ upstreams: [String]) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.pool.upstreams = upstreams.map {
            UpstreamConfiguration(name: $0, serverAddress: "http://127.0.0.1:9")
        }
        return configuration
    }

    private static func gateway() -> Gateway {
        Gateway(
            configuration: configuration(["a", "b"]),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    @Test func changeableSettingsAreAppliedOnReload() async throws {
        let gateway = Self.gateway()
        var newer = Self.configuration(["b", "c"])
        newer.pool.upstreams[0].maxItems = 7
        newer.maxStreams = 3
        newer.access = AccessFixture.keys()
        newer.pool.clientIdle = .seconds(1)
        #expect(try await gateway.reload(newer) == [])
        #expect(gateway.pool.settings.upstreams.map(\.name) == ["b", "c"])
        #expect(gateway.pool.settings.upstream("b")?.maxItems == 7)
        #expect(gateway.pool.settings.configuration.clientIdle == .seconds(1))
        #expect(gateway.configuration.maxStreams == 3)
        #expect(throws: PoolError.unknownUpstream("a")) {
            try gateway.pool.createClient(ClientSpecification(target: .upstream("a")))
        }
    }

    @Test func metricsTellWhetherTheLastReloadSucceeded() async throws {
        let gateway = Self.gateway()
        let name = "lightstreamer_gateway_last_reload_successful"
        #expect(gateway.host.services.metrics().contains("\n\(name) 1\n"))
        gateway.current.keep()
        #expect(gateway.host.services.metrics().contains("\n\(name) 0\n"))
        _ = try await gateway.reload(Self.configuration(["a"]))
        #expect(gateway.host.services.metrics().contains("\n\(name) 1\n"))
    }

    @Test func settingsForTheNextStartAreReturned() async throws {
        let gateway = Self.gateway()
        var newer = Self.configuration(["a"])
        newer.http.port = 1
        newer.http.host = "::1"
        newer.http.shards = 4
        newer.hub.windowEvents = 7
        newer.log.level = .trace
        newer.http.certificate = .init(chain: "secret", key: "secret")
        let keys = ["http.host", "http.port", "http.threads", "streams.windowEvents", "log.level"]
        #expect(try await gateway.reload(newer) == keys + ["http.tls.certificate"])
        #expect(gateway.configuration.http.port == 8080)
        #expect(gateway.configuration.hub.windowEvents == 1000)
    }

    @Test(arguments: [nil, "none", "new"] as [String?])
    func changedSecretsForTheNextStartAreReturned(secret: String?) async throws {
        var older = Self.configuration(["a"])
        (older.cluster.secret, older.cluster.connection.password) = ("old", "old")
        let gateway = Gateway(
            configuration: older,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        #expect(try await gateway.reload(older) == [])
        var newer = older
        (newer.cluster.secret, newer.cluster.connection.password) = (secret, secret)
        #expect(try await gateway.reload(newer) == ["cluster.secret", "cluster.password"])
        #expect(gateway.configuration.cluster == older.cluster)
    }

    @Test func aBrokenKeyLeavesEverythingAsItWas() async throws {
        let gateway = Self.gateway()
        var newer = Self.configuration(["c"])
        newer.access.webTokens.publicKey = "broken"
        await #expect(throws: KeyMaterial.Mistake.self) { _ = try await gateway.reload(newer) }
        #expect(gateway.pool.settings.upstreams.map(\.name) == ["a", "b"])
    }

    /// The certificate of the file was taken for the one in use: all later reloads were refused, as the server had started
    /// without TLS, or a renewed certificate was not used.
    @Test(arguments: [false, true])
    func aReloadDoesNotSwitchTLS(hasTLS: Bool) async throws {
        var older = Self.configuration(["a"])
        older.http.certificate = hasTLS ? .init(chain: "old", key: "old") : nil
        let gateway = Gateway(
            configuration: older,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        var newer = older
        newer.http.certificate = hasTLS ? nil : .init(chain: "new", key: "new")
        for maxStreams in 1...2 {
            newer.maxStreams = maxStreams
            #expect(try await gateway.reload(newer) == ["http.tls.certificate"])
            #expect(gateway.configuration.http.certificate?.chain == (hasTLS ? "old" : nil))
            #expect(gateway.configuration.maxStreams == maxStreams)
        }
    }

    @Test func credentialsStayRequiredOnTheAddressInUse() async throws {
        var older = Self.configuration(["a"])
        older.http.host = "0.0.0.0"
        older.access = AccessFixture.keys()
        let gateway = Gateway(
            configuration: older,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        var newer = Self.configuration(["b"])
        let error = await #expect(throws: ConfigurationError.self) { _ = try await gateway.reload(newer) }
        let mistake = "the address in use, 0.0.0.0: http.host: is not a loopback address: configure auth.keys or "
        #expect(error?.description.hasPrefix(mistake) == true)
        #expect(gateway.configuration.access == older.access)
        #expect(gateway.pool.settings.upstreams.map(\.name) == ["a"])
        newer.access.configuredModes = [.none]
        #expect(try await gateway.reload(newer) == ["http.host"])
        #expect(gateway.pool.settings.upstreams.map(\.name) == ["b"])
    }
}
