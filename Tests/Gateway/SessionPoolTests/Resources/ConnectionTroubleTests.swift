internal import Changes
internal import Primitives
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import LightstreamerClient
@testable import SessionPool

@Suite struct ConnectionTroubleTests: PoolSuite {
    let sink = RecordingSink()
    let time = ManualTime()

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
        let pool = pool()
        let client = try client(in: pool)
        func emit(_ event: ClientEvent, after failure: FailureKind) {
            client.core.core.state.withLock { $0.attempt.failed(failure) }
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
    private func pooledClient() throws -> PooledClient {
        try pool().makePooledClient(ClientID("c1"), Self.key.session)
    }

    /// The server refuses or closes the session of a client; the client knows the error before its events.
    private func close(_ client: PooledClient, code: Int, _ message: String) {
        let refusal = UpstreamRefusal(code: code, message: message)
        client.core.core.state.withLock { $0.attempt.failed(.serverError, refusal: refusal) }
        client.client(client.core, emitted: .status(.disconnected))
        client.client(client.core, emitted: .serverError(code: code, message: message))
    }

    @Test func refusalHasTheTimeOfTheNextAttempt() throws {
        let client = try pooledClient()
        close(client, code: 8, "full")
        #expect(client.trouble?.nextAttempt == time.moment + .seconds(1))
        close(client, code: 1, "wrong password")
        #expect(client.trouble?.nextAttempt == nil)
    }

    @Test func statusOfARefusedClientHasTheCause() throws {
        let client = try pooledClient()
        close(client, code: 8, "full")
        close(client, code: 8, "full")
        close(client, code: 1, "wrong password")
        let failures = sink.present.ofClients.compactMap { change -> LastFailure?? in
            if case .client(_, .event(.status(_, let failure))) = change { failure } else { nil }
        }
        #expect(failures.map { $0?.code } == [8, 8, 1])
        #expect(failures.map { $0?.attempts } == [1, 2, 1])
        let next = [1, 2].map { "\(time.moment + .seconds($0))" }
        #expect(failures.map { $0?.nextAttempt } == next + [nil])
        #expect(client.trouble?.attempts == 1)
        // The user disconnects.
        client.client(client.core, emitted: .status(.connecting))
        client.core.core.state.withLock { $0.attempt.failed(.closed) }
        client.client(client.core, emitted: .status(.disconnected))
        #expect(client.trouble?.code == 1 && client.trouble?.attempts == 1)
    }

    /// As after data that cannot be parsed, which the server sends in each session.
    @Test func pausesGrowAlsoIfTheServerAcceptsEachSession() throws {
        let client = try pooledClient()
        func pause(afterSeconds seconds: Double) -> Duration? {
            client.client(client.core, emitted: .status(.connectedStreamSensing))
            time.pass(seconds)
            client.client(client.core, emitted: .status(.connectedWSStreaming))
            close(client, code: 61, "malformed")
            return client.trouble?.nextAttempt.map { $0 - time.moment }
        }
        #expect([0.5, 0.5, 0.5].map(pause) == [.seconds(1), .seconds(2), .seconds(4)])
        #expect(pause(afterSeconds: 8) == .seconds(1))
    }

    /// The session is found, or interrupted, when a line comes that cannot be parsed. The client tells the error when its getter
    /// of the session ID already returns nil.
    @Test(arguments: [ClientStatus.connectedStreamSensing, .disconnectedTryingRecovery])
    func onlyAServerWithoutASessionIsOfAnotherKind(status: ClientStatus) throws {
        let client = try pooledClient()
        let delivery = EventDelivery(core: client.core.core)
        delivery.add(client)
        func trouble(after events: [SessionEvent]) -> ConnectionTrouble? {
            for event in events { delivery.deliver(event) }
            let refusal = UpstreamRefusal(code: UpstreamRefusal.badDataCode, message: "m")
            client.core.core.state.withLock { $0.attempt.failed(.serverError, refusal: refusal) }
            delivery.deliver(.statusChanged(.disconnected))
            delivery.deliver(.serverError(code: refusal.code, message: refusal.message))
            return client.trouble
        }
        let found = trouble(after: [.propertyChanged(.sessionId("S1")), .statusChanged(status)])
        #expect(found?.kind == .serverError && found?.code == UpstreamRefusal.badDataCode)
        let other = trouble(after: [.propertyChanged(.sessionId(nil)), .statusChanged(.connecting)])
        #expect(other?.kind == .notLightstreamer)
        // The code would be an HTTP status.
        #expect(other?.code == nil)
    }

    @Test func refusedConnectionIsReportedWithItsReason() async throws {
        let (reports, source) = AsyncStream.makeStream(of: ConnectionReport.self)
        let pool = pool(observeConnection: { _, report in source.yield(report) })
        let client = try client(in: pool)
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
