package import LightstreamerClient
package import SessionCore
internal import Synchronization

/// One client core of the pool: its upstream session, who uses it, and what it counts.
package final class PooledClient: Sendable {
    private struct Body {
        var counters = ClientCounters()
        var lastServerError: UpstreamRefusal?
        var streams = 0
        var lastUsed: Moment
        var isClosing = false
        var reconnectDelay = PooledClient.shortestReconnectDelay
        var reconnectAt: Moment?
    }

    /// The pause before a pooled client that the server refused or closed connects again; it doubles up to the longest.
    private static let shortestReconnectDelay = Duration.seconds(1)
    private static let longestReconnectDelay = Duration.seconds(60)

    /// The id that REST shows.
    package let id: ClientID
    /// The configured upstream; nil: made for an address.
    package let upstream: String?
    /// Made by a request, not by the pool.
    package let isDedicated: Bool
    /// The client itself. Its options, details, status and cookies are read and set here.
    package let core: LightstreamerClient
    /// Those who wait for a status.
    package let watchers = Watchers<ClientSituation>()

    let sink: any PoolSink
    private let clock: @Sendable () -> Moment
    private let body: Mutex<Body>

    init(
        id: ClientID,
        upstream: String?,
        isDedicated: Bool,
        core: LightstreamerClient,
        sink: any PoolSink,
        clock: @escaping @Sendable () -> Moment
    ) {
        self.id = id
        self.upstream = upstream
        self.isDedicated = isDedicated
        self.core = core
        self.sink = sink
        self.clock = clock
        body = Mutex(Body(lastUsed: clock()))
    }

    /// The connection as it stands.
    package var situation: ClientSituation {
        ClientSituation(status: core.status, lastServerError: body.withLock { $0.lastServerError })
    }

    /// The figures.
    package var counters: ClientCounters { body.withLock { $0.counters } }

    /// Connects, forgetting earlier refusals; throws what the client throws.
    package func connect() throws(ClientError) {
        body.withLock { $0.lastServerError = nil }
        try core.connect()
    }

    /// Somebody used the client by a call.
    func touch(at now: Moment) {
        body.withLock { $0.lastUsed = now }
    }

    /// A stream on the client, or on one of its subscriptions, opened (+1) or ended (-1).
    func streamsChanged(by difference: Int, at now: Moment) {
        body.withLock { body in
            body.streams += difference
            body.lastUsed = now
        }
    }

    /// Whether neither stream nor call used the client since a moment.
    func isIdle(since moment: Moment) -> Bool {
        body.withLock { $0.streams <= 0 && $0.lastUsed <= moment }
    }

    /// Marks the client as going; false if it was already.
    func startClosing() -> Bool {
        body.withLock { body in
            defer { body.isClosing = true }
            return !body.isClosing
        }
    }

    /// Connects a pooled client again that the server sent away, once its pause is over: its subscriptions wait for it.
    func reconnectIfDue(at now: Moment) {
        let isDue = body.withLock { body in
            guard !body.isClosing, let due = body.reconnectAt, due <= now else { return false }
            body.reconnectAt = nil
            return true
        }
        guard isDue else { return }
        do throws(ClientError) {
            try core.connect()
        } catch {
            // The server has all sessions that it may have; perhaps one of them ends.
            planReconnect(after: .disconnected)
        }
    }

    /// Plans the next attempt of a pooled client; dedicated ones belong to whoever made them.
    private func planReconnect(after status: ClientStatus) {
        if isDedicated { return }
        let now = clock()
        body.withLock { body in
            if status == .disconnected {
                body.reconnectAt = now + body.reconnectDelay
                body.reconnectDelay = min(body.reconnectDelay * 2, Self.longestReconnectDelay)
            } else {
                body.reconnectAt = nil
                if status.isConnected { body.reconnectDelay = Self.shortestReconnectDelay }
            }
        }
    }

    /// Counts an update of one of the subscriptions.
    func countUpdate() {
        body.withLock { $0.counters.updates &+= 1 }
    }

    /// Counts a message that was sent.
    func countMessage() {
        body.withLock { $0.counters.messages &+= 1 }
    }
}

extension PooledClient: ClientObserver {
    package func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): changed(status)
        case .serverError(let code, let message): received(UpstreamRefusal(code: code, message: message))
        case .property(let property): changed(property: property)
        case .legacy(let event): sink.client(id, emittedLegacy: event)
        case .bytesReceived(let count): sink.client(id, receivedBytes: count)
        case .subscription, .message: break  // Told to the subscription's and the message's own delegate.
        }
    }

    private func changed(_ status: ClientStatus) {
        switch status {
        case .disconnectedWillRetry, .disconnectedTryingRecovery:
            body.withLock { $0.counters.reconnects &+= 1 }
        default: break
        }
        planReconnect(after: status)
        sink.client(id, changedStatus: status)
        if !watchers.isEmpty { watchers.notify(situation) }
    }

    private func received(_ refusal: UpstreamRefusal) {
        body.withLock { body in
            body.counters.serverErrors &+= 1
            body.lastServerError = refusal
        }
        sink.client(id, receivedServerError: refusal.code, message: refusal.message)
        if !watchers.isEmpty { watchers.notify(situation) }
    }

    private func changed(property: String) {
        if property == "sessionId", core.connectionDetails.sessionId != nil {
            body.withLock { $0.counters.sessions &+= 1 }
        }
        sink.client(self, changedProperty: property)
    }
}

/// What is known of a client's connection at a moment.
package struct ClientSituation: Sendable, Equatable {
    /// The status.
    package let status: ClientStatus
    /// The last refusal or closure by the server since `connect()` was called; nil: none.
    package let lastServerError: UpstreamRefusal?
}

/// The figures of a client since it was made.
package struct ClientCounters: Sendable, Equatable {
    /// Sessions that were opened.
    package var sessions: UInt64 = 0
    /// How often the connection was lost and the client went on by itself.
    package var reconnects: UInt64 = 0
    /// Updates received, over all subscriptions.
    package var updates: UInt64 = 0
    /// Server errors received.
    package var serverErrors: UInt64 = 0
    /// Messages sent.
    package var messages: UInt64 = 0
}
