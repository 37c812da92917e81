internal import Primitives
internal import Replication

/// The place of a resource by the log, as far as this member has applied the log.
struct LogPlace: Sendable, Equatable {
    private let holder: ResourceHolder
    /// Whether the resource is a prepared stream that is open; nil for all other resources.
    private let isOpen: Bool?
    private let epoch: UInt64?
    /// The member that this process is; nil: none. Calls of a former member have no effect.
    private let member: UInt64?
    /// Whether there is no contact to the log.
    private let isDetached: Bool

    /// Whether the log has the resource.
    var isKnown: Bool { holder != .unknown }

    init(of id: String, in machine: borrowing MemberMachine) {
        holder = machine.holder(of: id)
        isOpen = machine.ledger?.specified[id]?.isOpen
        epoch = machine.ledger?.epoch
        member = machine.isMember ? machine.member : nil
        isDetached = machine.isDetached
    }
}

/// Waiting for facts of the log, and for changes of the resources of this process.
extension ClusterNode {
    /// Waits until the log is applied up to its end at the time of the call, and members have reported their resources
    /// after the beginning of an epoch; false after `logTimeout`.
    func caughtUp() async -> Bool { await catchUp(isComplete: true) }

    /// Waits until the log is applied up to its end at the time of the call; false after `logTimeout`.
    func appliesEnd() async -> Bool { await catchUp(isComplete: false) }

    private func catchUp(isComplete: Bool) async -> Bool {
        guard let link = state.withLock({ $0.link }), let last = try? await link.connection.inspectLog().last
        else { return false }
        return await holds(until: clock() + Self.logTimeout) { machine, now in
            // A member that loads a state may start behind its present position.
            guard !isComplete || machine.isComplete(at: now) else { return false }
            return last == 0 || machine.isServing(at: now) && machine.position >= last
        }
    }

    /// Waits until a condition holds; false at the deadline, or when this member stops.
    func holds(until deadline: Moment, _ condition: @escaping MemberReports.Condition) async -> Bool {
        await withCheckedContinuation { continuation in
            when(condition, until: deadline) { continuation.resume(returning: $0) }
            wake()
        }
    }

    /// The place of a resource in the log.
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

    /// This process has added or removed a resource, or has opened or closed a stream.
    func resourceChanged(_ id: String) {
        if reports.withLock({ $0.resourceChanged(id) }) { wake() }
    }
}
