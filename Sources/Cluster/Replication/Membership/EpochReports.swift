internal import Primitives

/// Which processes have reported their resources in an epoch: this process, and others according to their heartbeats.
struct EpochReports: Sendable {
    /// The longest wait for the reports, as a multiple of the time that members have for them.
    static let patience = 4

    private var heard: [UInt64: (heartbeat: Heartbeat, time: Moment)] = [:]
    /// The number of the last record that this member reports after its join; nil before the join.
    private var end: UInt64?
    /// Whether the log has the report of this member.
    private(set) var hasOwn = false

    // MARK: - This member

    /// This process becomes another member, or leaves.
    mutating func restart(isLeaving: Bool) { (end, hasOwn) = (nil, isLeaving) }

    /// This member has joined, and has reported if the outbox is open.
    mutating func wait(for outbox: borrowing Outbox) {
        guard end == nil, outbox.isOpen else { return }
        end = outbox.recordsAppended
        hasOwn = hasOwn || outbox.isEmpty
    }

    /// The log has the records of this member up to a number.
    mutating func written(_ records: UInt64) {
        if let end, records >= end { hasOwn = true }
    }

    // MARK: - Other processes

    /// A heartbeat of another process was received. A process that has been no member yet has nothing to report.
    mutating func heard(_ heartbeat: Heartbeat, at now: Moment) {
        if heartbeat.member != 0 || heard[heartbeat.process] != nil { heard[heartbeat.process] = (heartbeat, now) }
    }

    /// Processes are silent that were heard last before this time.
    mutating func forget(before time: Moment) { heard = heard.filter { $0.value.time >= time } }

    /// Whether a ledger has the reports of this member, and of all processes that were heard after a time.
    func areComplete(in ledger: ClusterLedger, since time: Moment) -> Bool {
        hasOwn
            && heard.values.allSatisfy { last, heardAt in
                heardAt <= time
                    || last.member != 0 && last.epoch == ledger.epoch
                        && last.position > ledger.epochPosition && last.position <= ledger.position
            }
    }
}
