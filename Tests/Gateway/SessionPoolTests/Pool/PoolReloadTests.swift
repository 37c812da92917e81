internal import Changes
internal import LightstreamerClient
internal import SessionCore
internal import SessionPool
internal import Testing

/// Sessions that are open when the configuration changes.
@Suite struct PoolReloadTests {
    private let first = ClientID("c1")
    private let second = ClientID("c2")
    private let third = ClientID("c3")

    @Test(arguments: ["http://127.0.0.1:2", "http://127.0.0.1:1"], [nil, "OTHER"])
    func subscriptionsAndMessagesOfAnotherServerUseANewSession(address: String, adapterSet: String?) throws {
        var machine = PoolMachine(configuration: .demo())
        let (open, _) = try machine.acquired(.demo("a"), freshClient: first)
        machine.configurationChanged(
            .demo {
                $0.serverAddress = address
                $0.adapterSet = adapterSet
                $0.maxItems = 7
            }
        )
        let isSame = address == "http://127.0.0.1:1" && adapterSet == nil
        #expect(try machine.acquired(.demo("a"), freshClient: second).shared == open)
        let expected = isSame ? first : second
        #expect(try machine.acquired(.demo("b"), freshClient: second).client == expected)
        #expect(try machine.messenger(SharedKey.demo("a").session, freshClient: third, until: .zero) == expected)
    }

    @Test func withoutAFurtherSessionThePresentOneIsUsed() throws {
        var machine = PoolMachine(configuration: .demo { $0.maxSessions = 1 })
        _ = try machine.acquired(.demo("a"), freshClient: first)
        machine.configurationChanged(
            .demo {
                $0.serverAddress = "http://127.0.0.1:2"
                $0.maxSessions = 1
            }
        )
        #expect(try machine.acquired(.demo("b"), freshClient: second).client == first)
        #expect(try machine.messenger(SharedKey.demo("a").session, freshClient: second, until: .zero) == first)
    }

    /// Whether further subscriptions use another session after a change.
    private func isOutdated(by change: (inout UpstreamConfiguration) -> Void) throws -> Bool {
        var machine = PoolMachine(configuration: .demo())
        _ = try machine.acquired(.demo("a"), freshClient: first)
        machine.configurationChanged(.demo(change))
        return try machine.acquired(.demo("b"), freshClient: second).client == second
    }

    @Test func subscriptionsUseANewSessionWhereItIsOpenedInAnotherWay() throws {
        #expect(try isOutdated { $0.options.httpExtraHeaders = ["X-Tenant": "b"] })
        #expect(try isOutdated { $0.httpCredentials = HTTPCredentials(user: "u", password: "p") })
        #expect(try isOutdated { $0.proxy = ProxySettings(host: "proxy.example.com", port: 3128) })
        #expect(try isOutdated { $0.tls.trust = .pem("authority") })
        #expect(try isOutdated { $0.certificatePins = ["sha256/b"] })
        #expect(try isOutdated { $0.controlLinks.entries = [AddressAllowList.Entry(host: "b", port: 1)] })
        #expect(try isOutdated { $0.password = "p" })
        let isOutdatedByQuotas = try isOutdated { upstream in
            upstream.isDefault = true
            (upstream.maxSessions, upstream.maxSubscriptionsPerSession, upstream.maxSubscriptions) = (3, 4, 5)
            (upstream.maxItems, upstream.maxValueBytes) = (6, 7)
        }
        #expect(!isOutdatedByQuotas)
    }
}
