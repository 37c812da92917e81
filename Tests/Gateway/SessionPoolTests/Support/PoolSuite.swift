internal import Changes
internal import Logging
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// Tests of pools whose clock is manual.
protocol PoolSuite {
    /// The sink of the pools.
    var sink: RecordingSink { get }
    /// The clock of the pools.
    var time: ManualTime { get }
}

extension PoolSuite {
    /// A shared subscription of the upstream.
    static var key: SharedKey { .demo() }

    /// A pool over an upstream without a server.
    func pool(
        _ change: (inout PoolConfiguration) -> Void = { _ in },
        removed: @escaping @Sendable (TopicID) -> Void = { _ in },
        held: @escaping @Sendable () -> [String: Set<String>] = { [:] },
        observeConnection: ConnectionObserver? = nil
    ) -> SessionPool {
        var configuration = PoolConfiguration.demo()
        change(&configuration)
        return SessionPool(
            configuration: configuration,
            sink: sink,
            removed: removed,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { [time] in time.moment },
            held: held,
            observeConnection: observeConnection
        )
    }

    /// A client of a pool, made for a request.
    func client(in pool: SessionPool, as id: ClientID? = nil) throws -> PooledClient {
        try pool.createClient(ClientSpecification(target: .upstream("demo")), as: id)
    }

    /// Changes the values of a subscription, and delivers the event.
    func deliver(_ event: SubscriptionEvent, of shared: SharedSubscription) throws {
        let token = try #require(shared.subscription.state.withLock { $0.token })
        _ = shared.subscription.take(event, of: token, at: .zero)
        shared.subscription(shared.subscription, emitted: event)
    }

    /// Lets seconds pass for a pool.
    func pass(_ duration: Double, in pool: SessionPool) {
        time.pass(duration)
        pool.timePassed()
    }
}

extension SharedKey {
    /// A subscription of the upstream `demo`, to `item1` where no items are named.
    static func demo(_ items: String..., user: String? = nil, group: UInt64? = nil) -> SharedKey {
        let items = items.isEmpty ? ["item1"] : items
        return SharedKey(
            session: SessionKey(upstream: "demo", user: user, password: nil, group: group),
            properties: SubscriptionProperties(mode: .merge, items: .list(items), fields: .list(["last_price"]))
        )
    }
}

extension PoolConfiguration {
    /// The upstream `demo`, which has no server.
    static func demo(_ change: (inout UpstreamConfiguration) -> Void = { _ in }) -> PoolConfiguration {
        var upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")
        change(&upstream)
        return PoolConfiguration(upstreams: [upstream])
    }
}

extension PoolMachine {
    /// The users of all subscriptions.
    var users: Int { shared.values.reduce(0) { $0 + $1.users } }

    /// The error of an acquisition; nil: it succeeds.
    mutating func refusal(of key: SharedKey, on client: String) -> PoolError? {
        do {
            _ = try acquired(key, freshClient: ClientID(client))
            return nil
        } catch {
            return error
        }
    }
}

extension SessionPool {
    /// The users of all subscriptions.
    var users: Int { state.withLock { $0.machine.users } }
}
