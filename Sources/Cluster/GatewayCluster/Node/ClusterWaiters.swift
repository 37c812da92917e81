internal import Gateway
internal import Primitives
internal import Replication

/// The requests of this member that wait for the log, as callbacks: see the decision record *WaitingByCallbacks*.
struct ClusterWaiters: Sendable {
    /// What became of the records of a request.
    enum Confirmation: Sendable {
        /// The log has them.
        case written
        /// They have no effect, because this member was removed.
        case void
        /// The log may have them: this member has lost contact to it.
        case uncertain
    }

    /// A request whose records were not read back from the log yet.
    struct Unconfirmed: Sendable {
        /// The number of its last record.
        let records: UInt64
        let done: @Sendable (Confirmation) -> Void
    }

    /// A request that waits until the log is applied up to a position.
    struct CatchUp: Sendable {
        let position: UInt64
        /// Whether it also waits until members have reported their resources after the beginning of an epoch.
        let isComplete: Bool
        let deadline: Moment
        let done: @Sendable (Bool) -> Void
    }

    /// A request that waits for a decision of the log.
    struct Undecided: Sendable {
        let deadline: Moment
        /// Called with the decision; nil if it is not known in time.
        let done: @Sendable (RecordOutcome?) -> Void
    }

    private var undecided: [RecordSubject: [Undecided]] = [:]
    private var unconfirmed: [Unconfirmed] = []
    /// No request waits for the records up to this number: they were read back or discarded.
    private var written: UInt64 = 0
    private var catching: [CatchUp] = []
    /// Whether the member has stopped: no request waits any more.
    private var hasEnded = false

    /// Whether requests with a deadline wait: for a position, or for a decision.
    var haveDeadlines: Bool { !catching.isEmpty || !undecided.isEmpty }

    /// Adds a request that waits for its records. Returns the confirmation of the records if it is known already.
    mutating func add(_ request: Unconfirmed) -> Confirmation? {
        if hasEnded { return .uncertain }
        if request.records <= written { return .written }
        unconfirmed.append(request)
        return nil
    }

    /// Adds a request that waits for a position; false if the member has stopped.
    mutating func add(_ request: CatchUp) -> Bool {
        if !hasEnded { catching.append(request) }
        return !hasEnded
    }

    /// Adds a request that waits for a decision; false if the member has stopped.
    mutating func add(_ request: Undecided, on subject: RecordSubject) -> Bool {
        if !hasEnded { undecided[subject, default: []].append(request) }
        return !hasEnded
    }

    /// Removes and returns the oldest request that waits for a decision on a subject.
    mutating func removeFirst(on subject: RecordSubject) -> Undecided? {
        guard var requests = undecided.removeValue(forKey: subject) else { return nil }
        let first = requests.removeFirst()
        if !requests.isEmpty { undecided[subject] = requests }
        return first
    }

    /// Removes and returns the callbacks of all requests that wait for a decision.
    mutating func removeUndecided() -> [@Sendable () -> Void] {
        defer { undecided = [:] }
        return undecided.values.joined().map { request in { request.done(nil) } }
    }

    /// The member has stopped: removes and returns all callbacks.
    mutating func end() -> [@Sendable () -> Void] {
        hasEnded = true
        defer { (unconfirmed, catching) = ([], []) }
        return unconfirmed.map { entry in { entry.done(.uncertain) } } + catching.map { entry in { entry.done(false) } }
            + removeUndecided()
    }

    /// The records up to a number were read back: removes and returns the callbacks of their requests.
    mutating func written(_ records: UInt64) -> [@Sendable () -> Void] {
        written = max(written, records)
        let due = unconfirmed.filter { $0.records <= records }
        unconfirmed.removeAll { $0.records <= records }
        return due.map { entry in { entry.done(.written) } }
    }

    /// The records up to a number were discarded, because the member was removed or has lost contact to the log: removes and
    /// returns the callbacks of their requests.
    ///
    /// - Parameter uncertain: The records up to this number may be in the log.
    mutating func discarded(_ records: UInt64, uncertain: UInt64) -> [@Sendable () -> Void] {
        defer { (written, unconfirmed) = (max(written, records), []) }
        return unconfirmed.map { entry in { entry.done(entry.records <= uncertain ? .uncertain : .void) } }
    }

    /// Removes and returns the callbacks of the requests whose deadline for a decision has passed.
    mutating func late(at now: Moment) -> [@Sendable () -> Void] {
        let late = undecided.values.joined().filter { $0.deadline <= now }
        guard !late.isEmpty else { return [] }
        undecided = undecided.mapValues { $0.filter { $0.deadline > now } }.filter { !$0.value.isEmpty }
        return late.map { request in { request.done(nil) } }
    }

    /// Removes and returns the callbacks for a position that was reached, and those whose deadline has passed.
    mutating func reached(_ position: UInt64, isComplete: Bool, at now: Moment) -> [@Sendable () -> Void] {
        func hasReached(_ entry: CatchUp) -> Bool { entry.position <= position && (isComplete || !entry.isComplete) }
        let due = catching.filter { hasReached($0) || $0.deadline <= now }
        catching.removeAll { hasReached($0) || $0.deadline <= now }
        return due.map { entry in
            let hasReached = hasReached(entry)
            return { entry.done(hasReached) }
        }
    }
}
