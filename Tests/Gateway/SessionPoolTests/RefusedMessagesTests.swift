internal import Logging
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// Messages with credentials that the server has refused.
@Suite struct RefusedMessagesTests {
    private let time = ManualTime()

    private static let key = SharedKey(
        session: SessionKey(upstream: "demo", user: nil, password: nil),
        properties: SubscriptionProperties(mode: .merge, items: .list(["item1"]), fields: .list(["last_price"]))
    )

    /// The server could lock the account. What uses the client meanwhile is refused as well.
    @Test func messagesAfterARefusalDoNotConnect() throws {
        let pool = SessionPool(
            configuration: PoolConfiguration(
                upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
            ),
            sink: RecordingSink(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { [time] in time.moment }
        )
        func messenger() throws -> PooledClient { try pool.messenger(Self.key.session, for: .seconds(30)) }
        let first = try messenger()
        first.client(first.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(pool.client(first.id) == nil)
        let second = try messenger()
        let resource = try pool.createResource(home: .pooled(Self.key.session), properties: Self.key.properties)
        try pool.activate(resource)
        #expect(resource.client === second)
        pool.timePassed()
        #expect(pool.client(second.id) == nil)
        #expect(resource.status.lastError?.code == 1 && !resource.status.isActive)
        #expect(pool.figures(of: "demo").sessions == 0)
        time.pass(60)
        let third = try messenger()
        pool.timePassed()
        #expect(pool.client(third.id) === third)
    }
}
