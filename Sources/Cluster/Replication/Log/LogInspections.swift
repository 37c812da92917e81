package import Primitives

/// The generation and extent of the log, as a member has inspected them. Only the result of the last order counts.
struct LogInspections: Sendable {
    /// The log, compared with the one that was inspected before.
    enum Finding {
        /// Another log.
        case replaced
        /// A log that ends before the position of the member when the inspection was ordered.
        case shortened
        /// The same log, with all frames that the member has read.
        case same
    }

    /// The generation of the log.
    private(set) var created: String?
    /// The positions of the first and last frames that the log had.
    private(set) var (first, last): (UInt64, UInt64) = (0, 0)
    /// The number of orders without a result, and the position of the member at the last one.
    private var (pending, orderedAt): (Int, UInt64) = (0, 0)
    /// The time of the present connection, or of a later order that was due.
    private var checkedAt = Moment.zero
    /// The time at which a member was in another epoch while this one had read the whole log; nil: none was.
    private var otherEpochSince: Moment?
    /// Whether the engine has shown two logs in this epoch, and the log is being inspected to begin another one.
    private(set) var hasDiverged = false

    /// Whether an order has no result yet.
    var isPending: Bool { pending > 0 }

    /// An inspection is ordered, at the position of the member; the first one of a connection voids those before it.
    mutating func ordered(at position: UInt64, connectedAt: Moment? = nil) {
        pending = connectedAt == nil ? pending + 1 : 1
        orderedAt = position
        if let connectedAt { checkedAt = connectedAt }
    }

    /// Whether an inspection is due because something that the log should have brought has been awaited for some time, since the
    /// connection, and since an inspection was due.
    mutating func isDue(after time: Duration, of waitingSince: Moment, at now: Moment) -> Bool {
        guard !isPending, now - max(waitingSince, checkedAt) >= time else { return false }
        checkedAt = now
        return true
    }

    /// Whether an inspection is due because members have been in another epoch than this one for some time: the log may have been
    /// created anew while the connection stayed open. `own`: nil unless this member has read the whole log.
    mutating func isDue(after time: Duration, ofMemberIn epoch: UInt64, own: UInt64?, at now: Moment) -> Bool {
        if own == nil { otherEpochSince = nil }
        guard let own, epoch != own else { return false }
        let since = otherEpochSince ?? now
        otherEpochSince = now - since >= time ? nil : since
        return otherEpochSince == nil
    }

    mutating func diverged() { hasDiverged = true }

    /// The member enters the log without state.
    mutating func entered() { (hasDiverged, otherEpochSince) = (false, nil) }

    mutating func failed() { pending = max(0, pending - 1) }

    /// The log was inspected; nil if a later order has no result yet.
    mutating func inspected(_ generation: LogGeneration) -> Finding? {
        pending = max(0, pending - 1)
        guard pending == 0 else { return nil }
        let isReplaced = created != generation.created
        (created, first, last) = (generation.created, generation.first, generation.last)
        return isReplaced ? .replaced : last < orderedAt ? .shortened : .same
    }
}

/// The connection to the engine, and the log that is found there.
extension MemberMachine {
    /// Whether there is no contact to the log.
    package var isDetached: Bool { phase == .offline || phase == .inspecting }

    /// A connection to the engine is open; frames are received from now on.
    ///
    /// - Parameter isLocal: Whether the log is that of this process alone, which replaces the log of an engine that is away.
    package mutating func connected(isLocal: Bool = false, at now: Moment) -> [MemberAction] {
        if isLocal != self.isLocal { leaveLog() }
        self.isLocal = isLocal
        phase = .inspecting
        monitor.connected(at: now)
        reader.connected()
        end.connected()
        // Without a member, the heartbeat asks the others for theirs.
        return beatNow(at: now) + [inspectLog(connectedAt: now)]
    }

    /// The connection is closed.
    package mutating func disconnected() {
        phase = .offline
        replay = nil
        monitor.disconnected()
        reader.fetchEnded(isReplied: false)
        reader.behindSince = nil
    }

    /// Starts without state: requests the state of the members, or begins an epoch at once.
    ///
    /// - Parameters:
    ///   - base: The position from which all beginnings of epochs are known; nil: from `position`.
    ///   - epoch: An epoch that ends. Another member may have begun the next one already, so that this member begins one only
    ///     if none sends its state.
    mutating func enter(
        from position: UInt64,
        knowingFrom base: UInt64? = nil,
        ending epoch: UInt64? = nil,
        beginning: Bool = false,
        at now: Moment
    ) -> [MemberAction] {
        leaveLog()
        inspections.entered()
        reader.missingSince = nil
        reader.restart(after: position)
        end.restart()
        // This member may have been removed meanwhile.
        let actions = resetMembership(isLogRead: false) + [.keepUsedCredits]
        phase = .loading(StateLoading(base: min(base ?? position, position), ending: epoch, at: now))
        return actions + (beginning ? beginEpoch(at: now) : requestState(at: now))
    }

    /// Drops the state of the cluster. What this member owned in the cluster is stored; the log of this process alone has
    /// nothing that other members could inherit.
    private mutating func leaveLog() {
        if let ledger, !isLocal { former.lost(ledger, of: member, handedOver, at: reader.position) }
        ledger = nil
        replay = nil
        additions = [:]
    }

    /// Stops being a member. The member joins again under another number.
    ///
    /// - Parameter isLogRead: Whether the log was read up to the end of the membership. The frame in flight is void then.
    mutating func resetMembership(isLogRead: Bool = true) -> [MemberAction] {
        member = randomNumber()
        reports.restart(isLeaving: isLeaving)
        writer.restart()
        readers.reset()
        carried = CarriedTopics()
        handedOver = HandedOverStreams()
        return [.closeOutbox(uncertain: isLogRead ? 0 : writer.recordsTaken), .dropAll]
    }

    mutating func inspectLog(connectedAt: Moment? = nil) -> MemberAction {
        inspections.ordered(at: reader.position, connectedAt: connectedAt)
        return .inspectLog
    }

    /// The generation and extent of the log were read.
    package mutating func logInspected(_ generation: LogGeneration, at now: Moment) -> [MemberAction] {
        guard phase != .offline, let finding = inspections.inspected(generation) else { return [] }
        reader.fetchEnded()
        if loading != nil, finding == .same, reader.gap == nil {
            // Nothing is missing: the frames and the states that are awaited are late.
            reader.reaches(generation.last)
            return fetchIfBehind(at: now, always: true)
        }
        if inspections.hasDiverged, let known = ledger ?? replay?.snapshot.ledger, finding != .replaced {
            return enter(from: generation.last, knowingFrom: known.epochPosition, ending: known.epoch, at: now)
        }
        guard ledger != nil, finding != .replaced else {
            let ending = finding == .replaced ? nil : loading?.ending
            return enter(from: generation.last, ending: ending, beginning: isLocal, at: now)
        }
        // Frames may have arrived since the order.
        if finding == .shortened {
            // Readers may have events that the log has lost, so no stream can be resumed, here or on other members.
            return enter(from: generation.last, ending: ledger?.epoch, at: now)
        }
        let isMissing = reader.missingSince.map { now - $0 >= timings.lost } ?? false
        if isMissing, let epoch = ledger?.epoch, generation.last < min(end.stated(in: epoch), reader.position + 1) {
            // Other members have read what the log does not have.
            return enter(from: generation.last, ending: epoch, at: now)
        }
        // The state of a member that has applied a lost frame replaces it.
        let isLost = isMissing && generation.last > reader.position
        if isLost || generation.first > reader.position + 1 { return enter(from: generation.last, at: now) }
        // Members may have said more meanwhile.
        reader.reaches(max(generation.last, ledger.map { end.stated(in: $0.epoch) } ?? 0))
        let isWaiting = reader.missingSince != nil
        if isWaiting { reader.nextIsMissing() }
        if phase == .inspecting, !isLocal, reader.position >= max(1, generation.first) {
            reader.unproven = reader.position
        }
        let wasInspecting = phase == .inspecting
        phase = .following
        // Members that have connected wait for the heartbeat.
        var actions = (wasInspecting ? beatNow(at: now) : []) + drain(at: now)
        // While a frame is missing, or cannot be fetched, the log is inspected again and again.
        let pause = isWaiting || now < reader.pausedUntil ? timings.resend : .zero
        if phase == .following { actions += resend(after: pause, at: now) }
        return actions + fetchIfBehind(at: now, always: !isWaiting)
    }

    /// The log has frames up to a position, which are fetched if they do not arrive.
    package mutating func logReaches(_ position: UInt64) { if isFollowing { reader.reaches(position) } }

    /// The log could not be inspected.
    ///
    /// - Parameter isMissing: Whether the engine has replied that it has no log.
    package mutating func inspectionFailed(isMissing: Bool) -> [MemberAction] {
        guard phase != .offline else { return [] }
        inspections.failed()
        // Another connection makes a missing log. A member that misses nothing needs no result: servers may elect a leader.
        return isMissing || !isSettled || inspections.isPending ? [.reconnect(isLogMissing: isMissing)] : []
    }

    /// Orders to inspect the log if the frame in flight, or the state of the cluster, does not arrive: the log may have been deleted
    /// while the connection stayed open. While frames are missing, their fetches show that.
    mutating func inspectIfWaiting(at now: Moment) -> [MemberAction] {
        let since = loading?.since ?? (phase == .following ? writer.waitingSince : nil)
        guard let since, reader.gap == nil, monitor.isReachable(at: now),
            inspections.isDue(after: timings.lost, of: since, at: now)
        else { return [] }
        return [inspectLog()]
    }
}
