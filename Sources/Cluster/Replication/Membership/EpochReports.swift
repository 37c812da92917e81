package import Primitives

/// Which processes have reported their resources in an epoch: this process, and others according to their heartbeats.
struct EpochReports: Sendable {
    /// The longest wait for the reports, as a multiple of the time that members have for them.
    private static let patience = 4

    /// When the epoch began for this member, or the sender of its state; nil: long ago, so that no report is waited for.
    private var begunAt: Moment?
    private var heard: [UInt64: (heartbeat: Heartbeat, time: Moment)] = [:]
    /// The number of the last record that this member reports after its join; nil before the join.
    private var end: UInt64?
    /// Whether the log has the report of this member.
    private(set) var hasOwn = false

    /// An epoch begins, or began at a time.
    mutating func begin(at time: Moment?) { begunAt = time }

    /// The time since the beginning of the epoch; nil if it is long ago.
    func age(at now: Moment) -> Duration? { begunAt.map { now - $0 } }

    // MARK: - This member

    /// This process becomes another member, or leaves.
    mutating func restart(isLeaving: Bool) { (end, hasOwn) = (nil, isLeaving) }

    /// This member has joined, and has reported if the outbox is open.
    mutating func wait(for outbox: Outbox) {
        guard end == nil, outbox.isOpen else { return }
        end = outbox.recordsAppended
        hasOwn = hasOwn || outbox.isEmpty
    }

    mutating func written(_ records: UInt64) { if let end, records >= end { hasOwn = true } }

    // MARK: - Other processes

    /// A heartbeat of another process was received. A process that has been no member yet has nothing to report.
    mutating func heard(_ heartbeat: Heartbeat, at now: Moment) {
        if heartbeat.member != 0 || heard[heartbeat.process] != nil { heard[heartbeat.process] = (heartbeat, now) }
    }

    /// Forgets the processes that are silent, and the beginning of the epoch once no report is waited for.
    mutating func timePassed(_ timings: ClusterTimings, at now: Moment) {
        heard = heard.filter { $0.value.time >= now - timings.suspect }
        if let begunAt, now - begunAt >= timings.reporting * Self.patience { self.begunAt = nil }
    }

    /// Whether a ledger has the resources of the members, which report their resources again after the beginning of an epoch. A
    /// process that is heard and has not reported is waited for, for a limited time.
    func areComplete(in ledger: ClusterLedger, _ timings: ClusterTimings, at now: Moment) -> Bool {
        guard let age = age(at: now) else { return true }
        if age >= timings.reporting * Self.patience { return true }
        guard hasOwn, age >= timings.reporting else { return false }
        for (last, heardAt) in heard.values where heardAt > now - timings.suspect {
            guard last.member != 0, last.epoch == ledger.epoch, last.position > ledger.epochPosition,
                last.position <= ledger.position
            else { return false }
        }
        return true
    }
}

extension MemberMachine {
    /// Whether the ledger has the resources of the members (see `EpochReports.areComplete`).
    package func isComplete(at now: Moment) -> Bool {
        guard isFollowing, let ledger else { return false }
        return reports.areComplete(in: ledger, timings, at: now)
    }

    /// The shared subscriptions with local readers, once the ledger has the resources of all members, those of this member
    /// included; nil before.
    package func readTopics(ifCompleteAt now: Moment) -> Set<String>? {
        reports.hasOwn && isComplete(at: now) ? readers.ids : nil
    }
}
