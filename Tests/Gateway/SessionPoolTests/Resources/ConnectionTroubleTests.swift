internal import Changes
internal import Logging
internal import Primitives
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

@Suite struct ConnectionTroubleTests {
    private func trouble(_ kind: FailureKind, code: Int? = nil, at seconds: Int) -> ConnectionTrouble {
        let refusal = code.map { UpstreamRefusal(code: $0, message: "m") }
        return ConnectionTrouble(kind: kind, refusal: refusal, since: .zero + .seconds(seconds))
    }

    @Test func attemptsWithOneReasonCountTogether() {
        let first = trouble(.refused, at: 1).following(nil)
        let second = trouble(.refused, at: 5).following(first)
        #expect(second.attempts == 2)
        #expect(second.since == .zero + .seconds(1))
        let other = trouble(.timeout, at: 9).following(second)
        #expect(other.attempts == 1)
        #expect(other.since == .zero + .seconds(9))
        let refusal = trouble(.serverError, code: 2, at: 10)
        #expect(!trouble(.serverError, code: 1, at: 11).hasSameReason(as: refusal))
    }

    @Test func statusOfAResponseIsTheCode() {
        var failure = trouble(.httpStatus, at: 1)
        failure.httpStatus = 502
        #expect(failure.code == 502)
        var other = trouble(.httpStatus, at: 2)
        other.httpStatus = 503
        #expect(!other.hasSameReason(as: failure))
        #expect(other.following(failure).httpStatus == 503)
    }

    @Test func attemptsToRecoverASessionCountOnce() throws {
        let pool = SessionPool(
            configuration: PoolConfiguration(
                upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
            ),
            sink: RecordingSink(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        func emit(_ event: ClientEvent, after failure: FailureKind) {
            client.core.core.state.withLock { $0.noteFailure(failure) }
            client.client(client.core, emitted: event)
        }
        let failed = ClientEvent.legacy(.connectionFailed(reason: "r"))
        emit(.status(.connectedWSStreaming), after: .timeout)
        // The status that follows tells the loss of the connection.
        emit(failed, after: .closed)
        #expect(client.trouble == nil)
        emit(.status(.disconnectedTryingRecovery), after: .closed)
        #expect(client.trouble?.kind == .closed)
        emit(failed, after: .refused)
        emit(failed, after: .refused)
        #expect(client.trouble?.kind == .refused)
        #expect(client.trouble?.attempts == 2)
        // The last attempt ends the recovery.
        emit(failed, after: .refused)
        emit(.status(.disconnectedWillRetry), after: .refused)
        #expect(client.trouble?.attempts == 3)
        emit(.status(.connecting), after: .refused)
        emit(.status(.disconnectedWillRetry), after: .refused)
        #expect(client.trouble?.attempts == 4)
        try pool.deleteClient(client.id)
    }

    /// A pooled client that makes no attempt by itself.
    private func pooledClient(_ time: ManualTime) throws -> PooledClient {
        let pool = SessionPool(
            configuration: PoolConfiguration(
                upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
            ),
            sink: RecordingSink(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: { time.moment }
        )
        return try pool.makePooledClient(ClientID("c1"), SessionKey(upstream: "demo", user: nil, password: nil))
    }

    @Test func refusalHasTheTimeOfTheNextAttempt() throws {
        let time = ManualTime()
        let client = try pooledClient(time)
        client.client(client.core, emitted: .status(.disconnected))
        client.client(client.core, emitted: .serverError(code: 8, message: "full"))
        #expect(client.trouble?.nextAttempt == time.moment + .seconds(1))
        client.client(client.core, emitted: .status(.disconnected))
        client.client(client.core, emitted: .serverError(code: 1, message: "wrong password"))
        #expect(client.trouble?.nextAttempt == nil)
    }

    /// As after data that cannot be parsed, which the server sends in each session.
    @Test func pausesGrowAlsoIfTheServerAcceptsEachSession() throws {
        let time = ManualTime()
        let client = try pooledClient(time)
        func pause(afterSeconds seconds: Double) -> Duration? {
            client.client(client.core, emitted: .status(.connectedStreamSensing))
            time.pass(seconds)
            client.client(client.core, emitted: .status(.connectedWSStreaming))
            client.client(client.core, emitted: .status(.disconnected))
            client.client(client.core, emitted: .serverError(code: 61, message: "malformed"))
            return client.trouble?.nextAttempt.map { $0 - time.moment }
        }
        #expect([0.5, 0.5, 0.5].map(pause) == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(pause(afterSeconds: 8) == .seconds(1))
    }

    /// The session is found, or interrupted, when a line comes that cannot be parsed. The client tells the error when its getter
    /// of the session ID already returns nil.
    @Test(arguments: [ClientStatus.connectedStreamSensing, .disconnectedTryingRecovery])
    func onlyAServerWithoutASessionIsOfAnotherKind(status: ClientStatus) throws {
        let client = try pooledClient(ManualTime())
        let delivery = EventDelivery(core: client.core.core)
        delivery.add(client)
        func kind(after events: [SessionEvent]) -> FailureKind? {
            let error = SessionEvent.serverError(code: UpstreamRefusal.badDataCode, message: "m")
            for event in events + [.statusChanged(.disconnected), error] { delivery.deliver(event) }
            return client.trouble?.kind
        }
        #expect(kind(after: [.propertyChanged(.sessionId("S1")), .statusChanged(status)]) == .serverError)
        #expect(kind(after: [.propertyChanged(.sessionId(nil)), .statusChanged(.connecting)]) == .notLightstreamer)
    }

    @Test func refusedConnectionIsReportedWithItsReason() async throws {
        let (reports, source) = AsyncStream.makeStream(of: ConnectionReport.self)
        let pool = SessionPool(
            configuration: PoolConfiguration(
                upstreams: [UpstreamConfiguration(name: "demo", serverAddress: "http://127.0.0.1:1")]
            ),
            sink: RecordingSink(),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            observeConnection: { _, report in source.yield(report) }
        )
        let client = try pool.createClient(ClientSpecification(target: .upstream("demo")))
        try client.connect()
        for await report in reports {
            guard case .failed(let trouble) = report else { continue }
            #expect(trouble.kind == .refused)
            #expect(trouble.attempts == 1)
            #expect(client.trouble?.kind == .refused)
            break
        }
        try pool.deleteClient(client.id)
    }
}
