/// The output of a session machine: the actions of the current event, and what all actions so far have established.
///
/// Only changes become actions: a status or property is notified if it differs from the one notified last, a timer is
/// cancelled if it is running, and a connection is closed or released if it has not ended.
struct SessionOutput {
    /// The actions of the current event so far.
    var actions: [SessionAction] = []
    /// The status that was notified last.
    private(set) var status = ClientStatus.disconnected
    private var properties = ServerProperties()
    /// The timers that are running, one at most for each purpose.
    private var timers: [SessionTimer.Purpose: SessionTimer] = [:]
    private var lastGeneration: UInt64 = 0
    /// The connections that were opened and have not ended.
    private var connections: Set<ConnectionID> = []
    private var lastConnection: UInt64 = 0

    mutating func emit(_ action: SessionAction) { actions.append(action) }

    mutating func notify(_ event: SessionEvent) { actions.append(.notify(event)) }

    mutating func notify(change: PropertyChange?) { if let change { notify(.propertyChanged(change)) } }

    mutating func notifyLegacy(_ event: LegacyEvent) { notify(.legacy(event)) }

    mutating func notify(_ events: [LegacyEvent]) { for event in events { notifyLegacy(event) } }

    mutating func notify(_ events: [SessionEvent]) { for event in events { notify(event) } }

    mutating func setStatus(_ newStatus: ClientStatus) {
        guard status != newStatus else { return }
        status = newStatus
        notify(.statusChanged(newStatus))
    }

    /// Sets a property of the session. `isAnswer`: it is notified even if it stays the same.
    mutating func setProperty(_ change: PropertyChange, isAnswer: Bool = false) {
        if properties.apply(change) || isAnswer { notify(.propertyChanged(change)) }
    }

    // MARK: - Timers

    /// Sets a timer; one of the same purpose that is running is replaced.
    mutating func startTimer(_ purpose: SessionTimer.Purpose, after delay: Duration) {
        stopTimer(purpose)
        lastGeneration &+= 1
        let timer = SessionTimer(purpose: purpose, generation: lastGeneration)
        timers[purpose] = timer
        emit(.scheduleTimer(timer, after: delay))
    }

    /// Cancels a timer, if it is running.
    mutating func stopTimer(_ purpose: SessionTimer.Purpose) {
        if let timer = timers.removeValue(forKey: purpose) { emit(.cancelTimer(timer)) }
    }

    /// A timer fired. Returns false if it was no longer running.
    mutating func fired(_ timer: SessionTimer) -> Bool {
        guard timers[timer.purpose] == timer else { return false }
        timers[timer.purpose] = nil
        return true
    }

    func isRunning(_ purpose: SessionTimer.Purpose) -> Bool { timers[purpose] != nil }

    // MARK: - Connections

    mutating func open(_ request: TransportRequest) -> ConnectionID {
        lastConnection &+= 1
        let connection = ConnectionID(lastConnection)
        connections.insert(connection)
        emit(.openTransport(connection, request))
        return connection
    }

    mutating func ended(_ connection: ConnectionID) { connections.remove(connection) }

    /// Closes a connection, unless it has ended.
    mutating func close(_ connection: ConnectionID?) {
        if let connection, connections.remove(connection) != nil { emit(.closeTransport(connection)) }
    }

    /// Releases an HTTP response whose last line was received.
    mutating func release(_ connection: ConnectionID?) {
        if let connection, connections.remove(connection) != nil { emit(.releaseTransport(connection)) }
    }
}
