internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

/// Messages with credentials that the server has refused.
@Suite struct RefusedMessagesTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

    /// The server could lock the account. What uses the client meanwhile is refused as well.
    @Test func messagesAfterARefusalDoNotConnect() throws {
        let pool = pool()
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
    /// An alert waits a minute. The upstream was neither up nor down after it, as if there were no refusal.
    @Test func aRefusalIsReportedUntilTheNextAttempt() throws {
        let pool = pool()
        func refusedMessenger() throws -> PooledClient {
            let client = try pool.messenger(Self.key.session, for: .seconds(30))
            // The attempt ends what was reported before.
            #expect(pool.refusedClient(of: "demo") == nil)
            client.client(client.core, emitted: .serverError(code: 1, message: "wrong password"))
            return client
        }
        let first = try refusedMessenger()
        time.pass(90)
        #expect(pool.refusedClient(of: "demo") === first)
        let second = try refusedMessenger()
        #expect(pool.refusedClient(of: "demo") === second)
        // Nobody has asked for a long time: the server may accept sessions again.
        time.pass(600)
        #expect(pool.refusedClient(of: "demo") == nil)
    }
}
