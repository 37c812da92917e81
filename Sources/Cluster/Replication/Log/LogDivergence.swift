/// The proof that two logs exist: members have read different bytes, or in another order, up to the same position.
package struct LogDivergence: Sendable, Equatable {
    /// The position up to which the digests differ.
    package let position: UInt64
    /// The digest that follows from the frames that this member has read.
    package let own: UInt64
    /// The digest of the other log.
    package let other: UInt64
    /// The member that has read the other log; nil if the engine has delivered both to this member.
    package let member: UInt64?
}

/// What a member does about two logs.
extension MemberMachine {
    /// Whether this joining member cannot read a frame of the members, which had not heard yet that it joins. A frame before
    /// the snapshot matters less: it belongs to the window of recent events, and the member continues without that.
    func isUnreadable(_ entry: LogEntry) -> Bool {
        guard phase == .following, let frame = entry.frame, frame.kind == .records else { return false }
        return !formats.contains(frame.format) && entry.wrongSum == nil
    }

    /// The proof that the engine delivers another frame than was applied at the same position; nil: it delivers the same one.
    func contradiction(by frame: StoredFrame) -> LogDivergence? {
        guard phase == .following, let ledger else { return nil }
        let entry = LogEntry(frame)
        guard frame.position > 0, let own = history.digests[frame.position]?.value,
            var other = history.digests[frame.position - 1]
        else {
            // A frame that was never read is in a part of the log that was read.
            guard writer.isInFlight(entry.frame) else { return nil }
            return LogDivergence(position: frame.position, own: ledger.digest.value, other: entry.sum, member: nil)
        }
        other.add(entry.sum, at: frame.position)
        if other.value == own { return nil }
        return LogDivergence(position: frame.position, own: own, other: other.value, member: nil)
    }

    /// Two logs exist, and readers may have events of either: another epoch begins, so that no stream resumes. The log is
    /// inspected first, because its end is not known any more.
    mutating func diverged(_ divergence: LogDivergence) -> [MemberAction] {
        counters.divergences += 1
        inspections.diverged()
        phase = .inspecting
        return [.reportDivergence(divergence), inspectLog()]
    }
}
