internal import Primitives
internal import Replication

/// The place of a resource by the log, as far as this member has applied the log.
struct LogPlace: Sendable, Equatable {
    /// The owner; unknown for a stream that is not in the log, whose opener `ClusterNode.holder(of:)` finds.
    let holder: ResourceHolder
    /// Whether the resource is a prepared stream that is open; nil for all other resources.
    private let isOpen: Bool?
    /// The present epoch; nil while this member has no state of the cluster.
    let epoch: UInt64?
    /// The member that this process is; nil: none. Calls of a former member have no effect.
    private let member: UInt64?
    private let isDetached: Bool

    var isKnown: Bool { holder != .unknown }

    init(of id: String, in machine: MemberMachine) {
        holder = machine.holder(of: id)
        isOpen = machine.ledger?.specified[id]?.isOpen
        epoch = machine.ledger?.epoch
        member = machine.isMember ? machine.member : nil
        isDetached = machine.isDetached
    }
}

/// The questions to the engine where the log ends. One is asked at a time: all requests that come meanwhile share the next.
struct EndQuestions: Sendable {
    private var asked = 0
    private var isNextWanted = false
    /// The number of the last question that was answered.
    private(set) var answered = 0
    /// The last answer; nil: the engine did not answer.
    private(set) var last: UInt64?

    /// The number of the first question that is asked after the call, and whether it has to be asked now.
    mutating func next() -> (number: Int, isDue: Bool) {
        guard asked == answered else {
            isNextWanted = true
            return (asked + 1, false)
        }
        asked += 1
        return (asked, true)
    }

    /// The question is answered; returns whether to ask the next one now.
    mutating func answer(_ last: UInt64?) -> Bool {
        (answered, self.last) = (asked, last)
        guard isNextWanted else { return false }
        isNextWanted = false
        asked += 1
        return true
    }
}

/// Waiting for facts of the log, and for changes of the resources of this process.
extension ClusterNode {
    func catchUp() async {
        let deadline = clock() + Self.logTimeout
        // What a member that joins has loaded may be older than what others had then.
        if contact == .none { _ = await holds(until: deadline) { $0.isServing(at: $1) } }
        if contact == .all { _ = await appliesEnd(by: deadline) }
    }

    /// Waits until the log is applied up to its end at the time of the call; false after `logTimeout`.
    ///
    /// - Parameter isComplete: Whether members must also have reported their resources after the beginning of an epoch.
    func appliesEnd(isComplete: Bool = false) async -> Bool {
        await appliesEnd(isComplete: isComplete, by: clock() + Self.logTimeout)
    }

    private func appliesEnd(isComplete: Bool = false, by deadline: Moment) async -> Bool {
        guard let last = await endOfLog(until: deadline) else { return false }
        return await holds(until: deadline) { machine, now in
            // A member that loads a state may start behind its present position.
            guard !isComplete || machine.isComplete(at: now) else { return false }
            return last == 0 || machine.isServing(at: now) && machine.position >= last
        }
    }

    /// The end of the log at a time after the call; nil if the engine does not answer.
    private func endOfLog(until deadline: Moment) async -> UInt64? {
        let (number, isDue) = shared.withLock { $0.endQuestions.next() }
        if isDue { addJob { [self] in await askForEnd() } }
        let isAnswered = await holds(until: deadline) { [self] _, _ in
            shared.withLock { $0.endQuestions.answered >= number }
        }
        return isAnswered ? shared.withLock { $0.endQuestions.last } : nil
    }

    private func askForEnd() async {
        var isDue = true
        while isDue {
            let link = state.withLock { $0.link }
            let last = try? await link?.connection.inspectLog().last
            // The last frame may not have been delivered, or not be readable.
            if let last { state.withLock { if $0.link?.number == link?.number { $0.machine.logReaches(last) } } }
            isDue = shared.withLock { $0.endQuestions.answer(last) }
            wake()
        }
    }

    /// Waits until a condition holds; false at the deadline, or when this member stops.
    func holds(until deadline: Moment, _ condition: @escaping MemberReports.Condition) async -> Bool {
        await withCheckedContinuation { continuation in
            when(condition, until: deadline) { continuation.resume(returning: $0) }
            wake()
        }
    }

    func place(of id: String) -> LogPlace { state.withLock { LogPlace(of: id, in: $0.machine) } }

    /// Waits until the log has another place of a resource, or until this process adds or removes the resource; false at the
    /// deadline, or when this member stops.
    ///
    /// - Parameters:
    ///   - place: The place when the caller looked at the resource; nil: only changes of this process count.
    ///   - isChanged: Whether this process has changed the resource since the caller looked at it.
    func changes(
        of id: String,
        since place: LogPlace?,
        until deadline: Moment,
        unless isChanged: () -> Bool = { false }
    ) async -> Bool {
        await withCheckedContinuation { continuation in
            let condition: MemberReports.Condition = { machine, _ in
                place.map { $0 != LogPlace(of: id, in: machine) } ?? false
            }
            when(condition, orChangeOf: id, until: deadline) { continuation.resume(returning: $0) }
            if isChanged() { resourceChanged(id) }
            wake()
        }
    }

    /// Stands for all resources, where the end of a request that changes resources is waited for: no resource has this id.
    static let ownChanges = "changes"

    /// This process has added or removed a resource, or has opened or closed a stream.
    func resourceChanged(_ id: String) { if reports.withLock({ $0.resourceChanged(id) }) { wake() } }
}
