internal import Primitives

/// The effects of the log on this member, and proofs that another log exists.
extension MemberMachine {
    // MARK: - Divergence

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

    /// A joining member can start at the beginning of an epoch if no unknown later epoch began after it. The log may have gone
    /// back, and the delayed frame that began a former epoch may be in the log once more.
    mutating func beginAtEpoch(_ entry: LogEntry, _ loading: Loading, _ now: Moment) -> [MemberAction] {
        guard !loading.isRefused, entry.wrongSum == nil, let frame = entry.frame, frame.kind == .epoch,
            frame.previous >= loading.base, frame.previous < entry.position, frame.epoch != loading.ending,
            !history.epochs.contains(frame.epoch)
        else { return [] }
        ledger = ClusterLedger(beginning: frame, entry, removed: former.removed)
        phase = .following
        return restarted(at: entry.position, now)
    }

    mutating func restarted(at position: UInt64, _ now: Moment) -> [MemberAction] {
        guard let ledger else { return [] }
        additions = [:]
        history.restart(with: ledger, at: now)
        reports.begin(at: now)
        counters.epochsStarted += 1
        // In a new epoch, all members report what they have.
        if !isLocal { former.epochBegan() }
        let actions = resetMembership()
        join()
        let kept = readers.ids
        return actions + [.restart(epoch: ledger.epoch, at: position, keeping: kept, loading: nil, withWindows: false)]
    }

    // MARK: - Effects

    mutating func memberRemoved(_ gone: UInt64, by remover: UInt64?, _ now: Moment) -> [MemberAction] {
        // A member that leaves by itself writes its removal.
        if gone == remover { counters.membersLeft += 1 } else { counters.membersSilent += 1 }
        if gone != remover, gone != member, let silence = monitor.silence(of: gone, at: now) {
            counters.failoverSeconds.record(silence / .seconds(1))
        }
        lastRemoval = now
        monitor.forget(gone)
        writer.removed(gone)
        if let ledger { carried.memberRemoved(in: ledger, at: now) }
        guard gone == member else { return [] }
        let actions = handedOver.releaseAll() + resetMembership() + [.keepUsedCredits]
        if isLeaving { return actions + [.left] }
        join()
        return actions
    }

    mutating func interestAdded(_ id: String, by other: UInt64) -> [MemberAction] {
        let isCarried = carried.interestAdded(id)
        if other == member { readers.interestAdded(id) }
        guard ledger?.subscriptions[id]?.isActive == false else { return [] }
        return (readers.contains(id) ? [.reopened(id)] : []) + (isCarried ? [.reactivate(id)] : [])
    }

    // MARK: - Prepared streams

    /// Notes that a prepared stream has got sources by a frame, and forgets a removed one. `ledger`: the state after the frame.
    mutating func noteAddition(_ effect: LedgerEffect, in ledger: ClusterLedger?, at position: UInt64) {
        switch effect {
        case .sourcesAdded(let id): additions[id] = position
        case .streamLost(let id, _): if ledger?.specified[id] == nil { additions[id] = nil }
        default: break
        }
    }

    // MARK: - Writing

    /// Whether this member may write after the end of the log (see `EndOfLog`).
    mutating func confirmsEnd(at now: Moment) -> Bool {
        guard !end.isConfirmed, let ledger else { return end.isConfirmed }
        let others = ledger.members.lazy.filter { [process] in $0.value.info.process != process }.map(\.key)
        end.confirm(
            others,
            of: ledger.epoch,
            upTo: reader.position,
            isHearing: monitor.isHearing(at: now),
            suspect: timings.suspect,
            at: now
        )
        return end.isConfirmed
    }

    /// Appends the frame in flight again if the end of the log is confirmed now.
    mutating func resendAtConfirmedEnd(at now: Moment) -> [MemberAction] { end.isConfirmed ? [] : resend(at: now) }

    /// Appends the frame in flight again unless it was sent within `time`.
    mutating func resend(after time: Duration = .zero, in format: UInt8? = nil, at now: Moment) -> [MemberAction] {
        guard confirmsEnd(at: now), let bytes = writer.repeated(after: time, in: format, at: now) else { return [] }
        counters.framesRepeated += 1
        return [.append(bytes)]
    }
}
