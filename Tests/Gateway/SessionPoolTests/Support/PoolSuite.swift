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
    static var key: SharedKey {
        SharedKey(
            session: SessionKey(upstream: "demo", user: nil, password: nil),
            properties: SubscriptionProperties(mode: .merge, items: .list(["item1"]), fields: .list(["last_price"]))
        )
    }

    /// A pool over an upstream without a server.
    func pool(
        _ change: (inout PoolConfiguration) -> Void = { _ in },
        held: @escaping @Sendable () -> [String: Set<String>] = { [:] }
    ) -> SessionPool {
        var configuration = PoolConfiguration(
            upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
        )
        configuration.subscriptionLinger = .seconds(5)
        change(&configuration)
        return SessionPool(
            configuration: configuration,
            sink: sink,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { [time] in time.moment },
            held: held
        )
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
