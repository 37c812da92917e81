internal import Gateway
internal import Primitives
internal import Replication

/// The requests of this member that wait for the log, as callbacks: see the decision record *WaitingByCallbacks*.
struct ClusterWaiters: Sendable {
    /// A request whose change was not read back from the log yet.
    struct Confirmation: Sendable {
        let generation: Int
        let records: UInt64
        let done: @Sendable (Bool) -> Void
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
    private var confirmations: [Confirmation] = []
    private var catching: [CatchUp] = []
    /// Whether the member has stopped: no request waits any more.
    private var hasEnded = false

    /// Adds a request that waits for its confirmation; false if the member has stopped.
    mutating func add(_ request: Confirmation) -> Bool {
        if !hasEnded { confirmations.append(request) }
        return !hasEnded
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
        defer { (confirmations, catching) = ([], []) }
        return confirmations.map { entry in { entry.done(false) } } + catching.map { entry in { entry.done(false) } }
            + removeUndecided()
    }

    /// Removes and returns the callbacks for records that were read back, or that were discarded with their generation.
    mutating func settled(generation: Int, records: UInt64) -> [@Sendable () -> Void] {
        let due = confirmations.filter { $0.generation != generation || $0.records <= records }
        confirmations.removeAll { $0.generation != generation || $0.records <= records }
        return due.map { entry in { entry.done(entry.generation == generation) } }
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
