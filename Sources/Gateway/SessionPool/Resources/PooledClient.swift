package import Changes
package import LightstreamerClient
package import Primitives
package import SessionCore
internal import Synchronization

/// One client of the pool, with its users.
package final class PooledClient: Sendable {
    private struct State {
        var lastServerError: UpstreamRefusal?
        /// The number of calls that have disconnected the client.
        var disconnects = 0
        var streams = 0
        var lastUsed: Moment
        var isClosing = false
        var isAbandoned = false
        var isWithdrawn = false
        var reconnects = ReconnectSchedule()
        var legacy = LegacyDerivation(status: .disconnected)
        var trouble: ConnectionTrouble?
        var wasConnected = false
        /// Whether there is a session. The status and the error that end a session come before the notification of `sessionId`,
        /// while the getter of `sessionId` returns nil from that status on.
        var hasSession = false
        /// Whether the session is being recovered: attempts that fail do not change the status.
        var isRecovering = false
    }

    package let id: ClientID
    /// The configured upstream; nil: made for an address.
    package let upstream: String?
    /// Whether a request has created the client, and not the pool.
    package let isDedicated: Bool
    /// The HTTP headers that the configuration of the upstream sets, in lower case: their values are secrets.
    package let secretHeaders: Set<String>
    /// Whether another process can continue the sessions of the client.
    let isTransferable: Bool
    /// The client itself. Its options, details, status and cookies are read and set here.
    package let core: LightstreamerClient
    package let watchers = Watchers()
    /// Held by a request from the look at the tag of the options or details to the end of its change.
    package let changes = RankedMutex((), rank: .resourceChange)

    /// Whether updates can arrive in the present status.
    let isDelivering = Atomic(false)
    /// Whether there is a session whose connection is lost or silent: its values may be older than those of other sessions.
    let isInterrupted = Atomic(false)
    /// Whether the sink knows the client.
    let isReported = Atomic(false)
    /// Whether the removal of the client was reported to the sink, perhaps before a report of the client by another thread.
    private let isRemovalReported = Atomic(false)

    let sink: any PoolSink
    let values: UpstreamValues
    let metrics: UpstreamMetrics
    private let clock: @Sendable () -> Moment
    private let observeConnection: ConnectionObserver?
    private weak let pool: SessionPool?
    private let state: RankedMutex<State>

    /// A client that the pool does not have yet; `upstream` is nil for a client by address.
    init(
        id: ClientID,
        upstream: UpstreamConfiguration?,
        isDedicated: Bool,
        isTransferable: Bool = false,
        core: LightstreamerClient,
        pool: SessionPool
    ) {
        self.id = id
        self.upstream = upstream?.name
        self.isDedicated = isDedicated
        self.isTransferable = isTransferable
        secretHeaders = Set((upstream?.options.httpExtraHeaders ?? [:]).keys.map { $0.lowercased() })
        self.core = core
        self.pool = pool
        sink = pool.sink
        metrics = pool.upstreamMetrics
        values = pool.settings.values(of: upstream?.name ?? "")
        clock = pool.clock
        observeConnection = pool.observeConnection
        state = RankedMutex(State(lastUsed: clock()), rank: .pooledClient)
    }

    /// Reports the client to the sink, and its removal as well if that was reported before.
    func reportAddition() {
        sink.take(.client(id, .added(core.status)))
        if isRemovalReported.load(ordering: .acquiring) { sink.take(.client(id, .removed)) }
        isReported.store(true, ordering: .releasing)
    }

    func reportRemoval() {
        isRemovalReported.store(true, ordering: .releasing)
        sink.take(.client(id, .removed))
    }

    /// Starts to report the events of the client to the sink. `isAdopting`: it continues the session of another process.
    func startReporting(isAdopting: Bool) {
        state.withLock { state in
            state.legacy = LegacyDerivation(status: core.status, continuesSession: isAdopting)
            // No connection has failed when the first status reports the recovery of an adopted session.
            state.isRecovering = isAdopting
        }
        isInterrupted.store(core.status.isInterrupted, ordering: .sequentiallyConsistent)
        isDelivering.store(core.status.delivers, ordering: .sequentiallyConsistent)
        core.addObserver(self)
    }

    package var situation: ClientSituation {
        let (error, disconnects) = state.withLock { ($0.lastServerError, $0.disconnects) }
        return ClientSituation(status: core.status, lastServerError: error, disconnects: disconnects)
    }

    /// Why the client is not connected; nil while it is, and before its first failure.
    package var trouble: ConnectionTrouble? { state.withLock { $0.trouble } }

    /// The time of the clock that the moments of `trouble` belong to.
    package var now: Moment { clock() }

    package var counters: ClientCounters { core.counters }

    /// Connects, and clears the last refusal; throws the errors of the client.
    package func connect() throws(ClientError) {
        state.withLock { $0.lastServerError = nil }
        try core.connect()
    }

    /// Disconnects, for a request.
    package func disconnect() {
        state.withLock { $0.disconnects += 1 }
        core.disconnect()
        // The status of a client without a connection does not change.
        watchers.notify()
    }

    /// Sends a message and returns its id. The outcome goes to the sink and, with the id, to `ended`, possibly before
    /// this method returns; to neither if the message does not request it.
    ///
    /// - Parameter retained: Is kept until the message is finished.
    package func send(
        _ message: MessageSubmission,
        retaining retained: (any Sendable)? = nil,
        ended: @escaping @Sendable (String, MessageOutcome) -> Void = { _, _ in }
    ) throws(ClientError) -> String {
        // The server expects the numbers of the messages to continue, and only this process knows them.
        if isTransferable { withdrawOffer() }
        let messageID = RandomID.make(prefix: "m")
        let report: @Sendable (MessageOutcome) -> Void = { [id, sink] outcome in
            sink.take(.client(id, .event(.message(id: messageID, outcome))))
            ended(messageID, outcome)
        }
        try core.sendMessage(
            message.text,
            withSequence: message.sequence,
            timeout: message.delayTimeout,
            enqueueWhileDisconnected: message.enqueueWhileDisconnected,
            from: isDedicated ? nil : message.sender,
            retaining: retained,
            onOutcome: message.wantsOutcome ? report : nil
        )
        return messageID
    }

    /// Records that a call used the client.
    func touch(at now: Moment) { state.withLock { $0.lastUsed = max($0.lastUsed, now) } }

    /// A stream on the client, or on one of its subscriptions, opened (+1) or ended (-1).
    func streamsChanged(by difference: Int, at now: Moment) {
        state.withLock { state in
            state.streams += difference
            state.lastUsed = now
        }
    }

    /// Whether no stream and no call has used the client for a time. A call that waits for its status uses it.
    func isIdle(for time: Duration, at now: Moment) -> Bool {
        if !watchers.isEmpty { touch(at: now) }
        return state.withLock { $0.streams <= 0 && $0.lastUsed <= now - time }
    }

    /// Whether the client is being deleted, or closed by the pool, or has been.
    package var isClosing: Bool { state.withLock { $0.isClosing } }

    /// Marks the client as closing; false if it was already.
    func startClosing() -> Bool {
        state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing
        }
    }

    /// Marks the client as abandoned, before `startClosing`: its later events are dropped.
    func startAbandoning() { state.withLock { $0.isAbandoned = true } }

    /// Whether another process has the client.
    var isAbandoned: Bool { state.withLock { $0.isAbandoned } }

    /// The present session, or the next one, cannot be continued by another process.
    func withdrawOffer() {
        // Reported under the lock, so that it does not precede an offer that was made before.
        state.withLock { state in
            state.isWithdrawn = true
            sink.take(.offered(nil, of: id))
        }
    }

    /// Reconnects a pooled client whose session the server refused or closed, once the pause is over.
    func reconnectIfDue(at now: Moment) {
        guard state.withLock({ $0.isClosing ? false : $0.reconnects.begin(at: now) }) else { return }
        do throws(ClientError) {
            try core.connect()
        } catch {
            // The session limit of the server is reached: try again later.
            planReconnect(after: .disconnected)
        }
    }

    /// Schedules the next attempt of a pooled client. Dedicated clients are reconnected by requests only.
    private func planReconnect(after status: ClientStatus) {
        if isDedicated { return }
        let now = clock()
        state.withLock { state in
            state.reconnects.statusChanged(to: status, at: now)
            guard let next = state.reconnects.next, state.trouble?.refusal?.isLasting != true else { return }
            state.trouble?.nextAttempt = next
        }
    }
}

extension PooledClient: ClientObserver {
    /// Streams report bytes once a second.
    package var bytesInterval: Duration { .milliseconds(250) }

    package func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .subscription, .message: break  // Observed by the shared subscription, and by the relay of the message.
        case _ where isAbandoned: break
        case .status(let status): changed(status)
        case .serverError(let code, let message): received(UpstreamRefusal(code: code, message: message))
        case .property(let property): changed(property: property)
        case .legacy(let event):
            if case .connectionFailed = event, state.withLock({ $0.isRecovering }) { noteFailure() }
            report([.legacy(event)])
        case .bytesReceived(let count):
            let now = clock()
            if let event = state.withLock({ $0.legacy.received(bytes: count, at: now) }) { report([event]) }
        }
    }

    /// Notes a failure or a success, and reports it if it is another one than the last.
    private func note(_ status: ClientStatus) {
        let wasRecovering = state.withLock { state in
            defer { state.isRecovering = status == .disconnectedTryingRecovery }
            return state.isRecovering
        }
        switch status {
        // The last attempt to recover the session has been noted, unless the server has refused it.
        case .disconnectedWillRetry where wasRecovering && core.lastRefusal == nil: break
        case .disconnectedTryingRecovery where wasRecovering: break
        case .disconnectedWillRetry, .disconnectedTryingRecovery: noteFailure()
        case .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling, .connectedHTTPPolling: noteSuccess()
        case .disconnected: noteClosure()
        case .connecting, .connectedStreamSensing, .stalled: break
        }
    }

    private func noteFailure() {
        note(core.lastFailure ?? .other, core.lastRefusal, next: core.attemptPause.map { clock() + $0 })
    }

    /// Notes the error with which the server has refused or closed the session, unless a call has disconnected the client.
    private func noteClosure() {
        // The pool may plan another attempt; a dedicated client makes none.
        guard let refusal = core.lastRefusal else { return state.withLock { $0.trouble?.nextAttempt = nil } }
        // Without a session, lines that cannot be parsed are those of another kind of server.
        let isOther = refusal.code == UpstreamRefusal.badDataCode && !state.withLock { $0.hasSession }
        if isOther { note(.notLightstreamer, nil, next: nil) } else { note(.serverError, refusal, next: nil) }
    }

    private func note(_ kind: FailureKind, _ refusal: UpstreamRefusal?, next: Moment?) {
        metrics.connectionFailed(kind, on: self)
        let status = refusal == nil ? core.lastHTTPStatus : nil
        var trouble = ConnectionTrouble(kind: kind, refusal: refusal, httpStatus: status, since: clock())
        let controlLink = core.attemptedControlLink
        trouble.address = controlLink ?? core.attemptAddress
        trouble.isControlLink = controlLink != nil
        trouble.nextAttempt = next
        let (present, isNew) = state.withLock { [trouble] state in
            let present = trouble.following(state.trouble)
            let isNew = !present.hasSameReason(as: state.trouble)
            state.trouble = present
            state.wasConnected = false
            return (present, isNew)
        }
        if isNew { observeConnection?(self, .failed(present)) }
    }

    private func noteSuccess() {
        let (trouble, isNew) = state.withLock { state in
            defer {
                state.trouble = nil
                state.wasConnected = true
            }
            return (state.trouble, !state.wasConnected)
        }
        if isNew { observeConnection?(self, .connected(after: trouble)) }
    }

    private func changed(_ status: ClientStatus) {
        isInterrupted.store(status.isInterrupted, ordering: .sequentiallyConsistent)
        let wasDelivering = isDelivering.exchange(status.delivers, ordering: .sequentiallyConsistent)
        note(status)
        planReconnect(after: status)
        let failure = sink.lastFailure(of: self)
        report([.status(status, failure: failure)] + state.withLock { $0.legacy.events(forStatus: status) })
        watchers.notify()
        if wasDelivering != status.delivers { pool?.deliveryChanged(of: self) }
    }

    private func received(_ refusal: UpstreamRefusal) {
        state.withLock { $0.lastServerError = refusal }
        metrics.serverError(refusal.code, on: self)
        report([.serverError(code: refusal.code, message: refusal.message)])
        watchers.notify()
        if isDedicated {
            pool?.deliveryChanged(of: self)
        } else if refusal.isLasting {
            pool?.sessionRefused(self, refusal)
        }
    }

    private func changed(property: String) {
        if isTransferable, property == "sessionId" || property == "serverInstanceAddress" { offerSession() }
        let value = sink.shownValue(of: property, on: self)
        if property == "sessionId" {
            let hasSession = core.connectionDetails.sessionId != nil
            state.withLock { state in
                state.hasSession = hasSession
                if !hasSession { state.legacy.sessionEnded() }
            }
        }
        report([.property(name: core.edition.propertyName(property), value: value)])
    }

    private func report(_ events: [ClientTopicEvent]) {
        if events.count == 1 {
            sink.take(.client(id, .event(events[0])))
        } else {
            sink.take(events.map { .client(id, .event($0)) })
        }
    }

    private func offerSession() {
        let offer = core.offeredSession
        state.withLock { state in
            if offer == nil {
                state.isWithdrawn = false
                core.isSessionOffered = false
            } else if state.isWithdrawn || !sink.ownsSessions {
                // Other processes do not learn of the session, so that it needs no protection from them.
                return
            } else {
                core.isSessionOffered = true
            }
            sink.take(.offered(offer, of: id))
        }
    }
}

/// The state of a client's connection at a moment.
package struct ClientSituation: Sendable, Equatable {
    package let status: ClientStatus
    /// The last refusal or closure by the server since `connect()` was called; nil: none.
    package let lastServerError: UpstreamRefusal?
    /// The number of requests that have disconnected the client.
    package let disconnects: Int

    /// Why the server has refused or closed the session of a client that does not connect again by itself; nil: it has not.
    package var refusal: UpstreamRefusal? { status == .disconnected ? lastServerError : nil }
}

package struct MessageSubmission: Sendable, Equatable {
    package var text: String
    /// The sequence; nil: unordered.
    package var sequence: String?
    /// How long the server waits for missing earlier messages, in seconds; nil: the server's default.
    package var delayTimeout: Double?
    /// Whether the message waits for a session if there is none.
    package var enqueueWhileDisconnected = false
    package var wantsOutcome = true
    /// The account that sends the message; nil: none. An account may begin half of the sequences of a pooled session.
    package var sender: String?

    package init(text: String) { self.text = text }
}
