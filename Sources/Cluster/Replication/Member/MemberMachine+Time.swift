package import Primitives

/// Heartbeats, timeouts, frames that are appended again, and local readers.
extension MemberMachine {
    // MARK: - Heartbeats

    /// Whether a heartbeat was sent after every heartbeat that was received from the same process; an older one has no effect.
    /// Heartbeats of this member count as new.
    package func isNew(_ heartbeat: Heartbeat) -> Bool { heartbeat.process == process || monitor.isNew(heartbeat) }

    /// A heartbeat was received, possibly the member's own one.
    package mutating func heard(_ heartbeat: Heartbeat, at now: Moment) -> [MemberAction] {
        if heartbeat.process == process {
            monitor.echoed(sentAt: heartbeat.sentAt, at: now)
            return []
        }
        let asks = monitor.asks(heartbeat)
        guard var other = monitor.accept(heartbeat, at: now) else { return [] }
        reports.heard(heartbeat, at: now)
        guard heartbeat.member != 0 else {
            return other + (asks && isFollowing ? beatNow(at: now) : []) + fetchIfBehind(at: now)
        }
        end.heard(heartbeat)
        if phase == .following, heartbeat.epoch == ledger?.epoch {
            reader.reaches(heartbeat.position)
            // A digest of a position that this member has not read yet says nothing.
            if let digest = heartbeat.digest, history.digests[heartbeat.position] != nil {
                if let otherPast = history.digests.otherPast(of: heartbeat.member, upTo: heartbeat.position, digest) {
                    return other + diverged(otherPast)
                }
                other += handedOver.read(heartbeat.position, by: heartbeat.member)
            }
            other += resendAtConfirmedEnd(at: now)
        }
        let own = phase == .following && reader.gap == nil ? ledger?.epoch : nil
        if inspections.isDue(after: timings.silence, ofMemberIn: heartbeat.epoch, own: own, at: now) {
            return other + [inspectLog()]
        }
        if let info = ledger?.members[heartbeat.member]?.info, monitor.noteConfiguration(of: heartbeat),
            heartbeat.configuration != configuration
        {
            other.append(.reportOtherConfiguration(info))
        }
        return other + fetchIfBehind(at: now)
    }

    /// Sends a heartbeat before it is due.
    mutating func beatNow(at now: Moment) -> [MemberAction] {
        monitor.beatNow(at: now)
        return beat(at: now)
    }

    private mutating func beat(at now: Moment) -> [MemberAction] {
        guard phase != .offline, let sentAt = monitor.beats(at: now) else { return [] }
        reports.timePassed(timings, at: now)
        let isFollowing = isFollowing
        // Until the log has its report, a member states the beginning of the epoch.
        let position = reports.hasOwn ? reader.position : ledger?.epochPosition ?? 0
        var heartbeat = Heartbeat(process: process, sentAt: sentAt, configuration: configuration, formats: formats)
        heartbeat.epoch = ledger?.epoch ?? 0
        if isFollowing {
            (heartbeat.member, heartbeat.position) = (member, position)
            heartbeat.digest = history.digests[position]?.value
        }
        return [.broadcast(heartbeat)]
    }

    // MARK: - Time

    /// Handles timeouts; called several times within the shortest of the timings.
    package mutating func timePassed(at now: Moment) -> [MemberAction] {
        monitor.timePassed(at: now)
        if phase != .offline, monitor.isSilent(at: now) {
            // The library's own detection depends on the wall clock, and it may wait for a write that does not end.
            monitor.connected(at: now)
            return [.reconnect]
        }
        var actions = beat(at: now) + inspectIfWaiting(at: now)
        if case .loading(let loading) = phase { return actions + loadingTimePassed(loading, at: now) }
        if phase == .replaying, let replay { return actions + replayTimePassed(replay.deadline, at: now) }
        guard isFollowing, let ledger else { return actions }
        actions += resendAtConfirmedEnd(at: now)
        history.note(ledger, interval: timings.window / Self.windowParts, at: now)
        hasSuspects = !suspects(at: now).isEmpty
        writer.control += carried.retire(in: ledger, after: timings.linger, at: now)
        let idle = readers.dropIdle(after: timings.linger, at: now)
        writer.control += idle.records
        actions += idle.undeclared.map { .forget($0) }
        writer.control += lostUpstreams.ended(in: ledger, by: member, at: now)
        writer.control += changedUpstreams(in: ledger)
        actions += resend(after: timings.resend, at: now)
        return actions + fetchIfBehind(at: now)
    }

    /// The record of the upstreams that a reload has changed, until the log has it. None while members have different versions:
    /// earlier versions do not know the record, and would assign nothing by it.
    private func changedUpstreams(in ledger: ClusterLedger) -> [ClusterRecord] {
        let record = ClusterRecord.upstreams(info.upstreams)
        guard isMember, writer.isIdle, info.upstreams != ledger.members[member]?.info.upstreams,
            ledger.haveOneVersion, !writer.control.contains(record)
        else { return [] }
        return [record]
    }

    /// Orders to inspect the log if the frame in flight, or the state of the cluster, does not arrive: the log may have been deleted
    /// while the connection stayed open. While frames are missing, their fetches show that.
    private mutating func inspectIfWaiting(at now: Moment) -> [MemberAction] {
        let since = loading?.since ?? (phase == .following ? writer.waitingSince : nil)
        guard let since, reader.gap == nil, monitor.isReachable(at: now),
            inspections.isDue(after: timings.lost, of: since, at: now)
        else { return [] }
        return [inspectLog()]
    }

    /// Whether only deadlines that are not near can change something: no frame is missing, and no member is late.
    package func isQuiet(at now: Moment) -> Bool {
        isSettled && (ledger?.members.keys.allSatisfy { $0 == member || monitor.hears($0, at: now) } ?? false)
    }

    /// Orders the removal of silent members. Called when a frame can be written: a removal that was decided earlier might
    /// be about a member that sends heartbeats again.
    mutating func removeSilent(at now: Moment) {
        for silent in suspects(at: now) where !writer.removing.contains(silent) { writer.remove(silent) }
    }

    private func suspects(at now: Moment) -> [UInt64] {
        guard isMember, let ledger else { return [] }
        return monitor.suspects(among: ledger.members.keys, me: member, at: now)
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

    // MARK: - Local readers

    /// A local reader of a shared subscription was added; streams may be opened on it once `isReady` is true.
    package mutating func addReader(_ id: String, _ key: SharedTopicKey) {
        writer.control += readers.added(id, key, isOver: ledger?.subscriptions[id]?.isActive != true)
    }

    /// Whether a shared subscription has local readers, or the log has it.
    package func needs(_ id: String) -> Bool { readers.contains(id) || ledger?.subscriptions[id] != nil }

    /// Whether the log has the interest of this member in a shared subscription with local readers.
    package func isReady(_ id: String) -> Bool { readers.hasInterest(id) }

    /// A local reader of a shared subscription was removed.
    package mutating func removeReader(_ id: String, at now: Moment) { readers.removed(id, at: now) }

    /// Leaves the cluster: the subscriptions of this member are assigned to others at once.
    package mutating func leave() -> [MemberAction] {
        isLeaving = true
        guard isMember, isFollowing else { return [.left] }
        writer.remove(member)
        return []
    }
}
