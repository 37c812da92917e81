package import Primitives

/// The connection to the engine, and the questions that follow from the state of the member.
extension MemberMachine {
    /// The position up to which the log is applied.
    package var position: UInt64 { reader.position }

    /// Whether streams may be opened on this member, and requests answered from its ledger: not before it has read what
    /// the log had when its connection was opened.
    package func isServing(at now: Moment) -> Bool {
        isFollowing && position >= inspections.last && reader.unproven == nil && monitor.isReachable(at: now)
    }

    /// Whether this member serves resources, which belong to the whole cluster: not while members are silent and the log does not
    /// take a frame of this one. The servers of the engine may be divided then, and the silent members may have removed this
    /// one and changed what it had.
    package func servesResources(at now: Moment) -> Bool {
        guard isServing(at: now), isMember, !isLocal else { return false }
        guard hasSuspects, let since = writer.waitingSince else { return true }
        return now - since < timings.echoTimeout
    }

    /// Whether no other member can have adopted the sessions of this one: it is not leaving, has not been missing frames
    /// for `fetchDelay`, and its last heartbeat is too recent for others to suspect it.
    package func ownsSessions(at now: Moment) -> Bool {
        let isBehind = reader.behindSince.map { now - $0 >= timings.fetchDelay } ?? false
        return isServing(at: now) && isMember && !writer.removing.contains(member) && !isBehind
    }

    /// The owner of a client or subscription, according to the log as far as this member has applied it.
    package func holder(of id: String) -> ResourceHolder {
        guard let ledger, let owner = ledger.owner(of: id) else { return .unknown }
        guard let owner else { return .none }
        if owner == member { return .own }
        return ledger.members[owner].map { .process($0.info.process) } ?? .none
    }

    /// The member that a process is; nil: none.
    package func member(of process: UInt64) -> UInt64? {
        ledger?.members.first { $0.value.info.process == process }?.key
    }

    /// Whether the log has removed a member.
    package func isRemoved(_ member: UInt64) -> Bool { ledger?.removed.contains(member) ?? false }

    /// Whether an epoch is an earlier one of this member: its state is newer than all events of that epoch.
    package func isPast(_ epoch: UInt64) -> Bool {
        guard let ledger else { return false }
        return ledger.earlierEpochs.contains(epoch) || history.wasIn(epoch, before: ledger.epoch)
    }

    /// The state of a ticket. A ticket of an epoch that this member has not read yet counts as unused: the log decides about its use.
    package func state(of ticket: TicketUse) -> TicketState {
        if let ledger, ledger.epoch == ticket.epoch { return ledger.ticketUses.state(of: ticket) }
        return isPast(ticket.epoch) ? .void : .unused
    }

    /// The position of the record with which a request began if its key has expired, else 0.
    package func expiredPosition(of key: RecordKey) -> UInt64 {
        guard let position = ledger?.requests.position(of: key), position <= history.ages.expired else { return 0 }
        return position
    }

    // MARK: - Connection

    /// Whether there is no contact to the log.
    package var isDetached: Bool { phase == .offline || phase == .inspecting }

    /// A connection to the engine is open; frames are received from now on.
    ///
    /// - Parameter isLocal: Whether it is the log of this process alone, which replaces that of an engine that is away.
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

    mutating func inspectLog(connectedAt: Moment? = nil) -> MemberAction {
        inspections.ordered(at: reader.position, connectedAt: connectedAt)
        return .inspectLog
    }

    /// The connection is closed.
    package mutating func disconnected() {
        phase = .offline
        replay = nil
        monitor.disconnected()
        reader.fetchEnded(isReplied: false)
        reader.behindSince = nil
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
        return isMissing || !isSettled || inspections.isPending ? [.reconnect] : []
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
}

/// The owner of a client or subscription, as this process sees it.
package enum ResourceHolder: Sendable, Equatable {
    /// This member.
    case own
    /// The member in this process.
    case process(UInt64)
    /// No member at the moment: its owner was removed, and another one will be assigned.
    case none
    /// There is no such client or subscription.
    case unknown
}

extension ClusterLedger {
    /// The owner of a client or subscription. Outer nil: it does not exist; inner nil: it has no owner at the moment.
    func owner(of id: String) -> UInt64?? {
        if let topic = topics.byID[id] { return .some(topic.owner) }
        if let resource = specified[id] { return .some(resource.owner) }
        if let client = clients[id] { return .some(client.owner) }
        return subscriptions[id].map(\.owner)
    }

    /// Whether a member can own a client, subscription or stream: one that has the upstream of the resource.
    package func canBeOwned(_ id: String) -> Bool {
        guard let upstream = topics.byID[id]?.key.upstream ?? specified[id]?.specification.upstream else { return true }
        return !able(upstream).isEmpty
    }
}
