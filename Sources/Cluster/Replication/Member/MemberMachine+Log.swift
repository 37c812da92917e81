internal import Changes
package import Primitives

/// Reading the log, and writing to it.
extension MemberMachine {
    // MARK: - Reading

    /// A frame arrived.
    package mutating func arrived(_ frame: StoredFrame, at now: Moment) -> [MemberAction] {
        if let divergence = contradiction(by: frame) { return diverged(divergence) }
        if reader.arrived(frame), frame.position == reader.position + 1 { missingSince = nil }
        return drain(at: now) + fetchIfBehind(at: now)
    }

    /// Missing frames were fetched: in any order, and possibly not all of them.
    package mutating func fetched(_ frames: [StoredFrame], at now: Moment) -> [MemberAction] {
        isFetching = false
        let position = reader.position
        for frame in frames {
            if let divergence = contradiction(by: frame) { return diverged(divergence) }
            if reader.arrived(frame) { counters.framesFetched += 1 }
        }
        let actions = drain(at: now)
        let hasNext = reader.position > position
        missingSince = hasNext ? nil : missingSince ?? now
        return actions + fetchIfBehind(at: now, always: hasNext)
    }

    /// Missing frames could not be fetched.
    ///
    /// - Parameter isMissing: Whether the engine has replied that it does not have the first of them.
    package mutating func fetchFailed(isMissing: Bool, at now: Moment) -> [MemberAction] {
        isFetching = false
        missingSince = isMissing ? missingSince ?? now : nil
        if phase == .replaying { return endReplay(isComplete: false, at: now) }
        behindSince = now
        return phase == .offline || inspections > 0 ? [] : [inspectLog()]
    }

    /// Applies the frames that can be applied in order.
    mutating func drain(at now: Moment) -> [MemberAction] {
        var actions: [MemberAction] = []
        while phase != .inspecting, phase != .offline, let frame = reader.next() { actions += apply(frame, at: now) }
        if reader.position >= reader.known { behindSince = nil }
        return actions
    }

    private mutating func apply(_ stored: StoredFrame, at now: Moment) -> [MemberAction] {
        counters.framesApplied += 1
        if case .loading(let loading) = phase { return beginAtEpoch(stored, loading, now) }
        if isUnreadable(stored) { return enter(from: stored.position, at: now) }
        if phase == .replaying { return replay(stored, at: now) }
        if let divergence = otherPast(of: stored) { return diverged(divergence) }
        history.applied(stored)
        guard let verdict = ledger?.apply(stored), let digest = ledger?.digest else { return [] }
        digests.append(digest, at: stored.position)
        switch verdict {
        case .taken(let effects):
            let written = ownFrameRead(stored, now)
            return perform(effects, of: stored, now) + written
        case .again:
            counters.framesIgnoredRepeated += 1
            return [.apply([], at: stored.position)] + ownFrameRead(stored, now)
        case .stale:
            counters.framesIgnoredStale += 1
            // A member that shared a format with others may have been refused because of one that has joined before.
            if isInFlight(stored), !isMember { return enter(from: stored.position, at: now) }
            return [.apply([], at: stored.position)]
        case .unreadable:
            counters.framesIgnoredStale += 1
            return [.apply([], at: stored.position)] + (isInFlight(stored) ? rewritten(at: now) : [])
        case .damaged:
            let sum = stored.sum
            let written = stored.wrongChecksum(sum) ?? sum
            return diverged(LogDivergence(position: stored.position, own: sum, other: written, member: nil))
        case .lost:
            return enter(from: stored.position, at: now)
        case .epochStarted:
            return restarted(at: stored.position, now)
        }
    }

    /// Whether this joining member cannot read a frame of the members, which had not heard yet that it joins. A frame before
    /// the snapshot matters less: it belongs to the window of recent events, and the member continues without that.
    private func isUnreadable(_ stored: StoredFrame) -> Bool {
        guard phase == .following, !isMember, let frame = ClusterFrame(stored.bytes), frame.kind == .records else {
            return false
        }
        return !formats.contains(frame.format) && stored.wrongChecksum(stored.sum) == nil
    }

    /// The writer of a frame has read another log up to `previous` than this member.
    private func otherPast(of stored: StoredFrame) -> LogDivergence? {
        guard let frame = ClusterFrame(stored.bytes), frame.kind == .records, frame.epoch == ledger?.epoch,
            let own = digests[frame.previous]?.value, own != frame.digest
        else { return nil }
        return LogDivergence(position: frame.previous, own: own, other: frame.digest, member: frame.member)
    }

    /// The engine delivers a frame other than the one that was applied at the same position.
    private func contradiction(by frame: StoredFrame) -> LogDivergence? {
        guard phase == .following, frame.position <= reader.position, let ledger else { return nil }
        guard frame.position > 0, let own = digests[frame.position]?.value, var other = digests[frame.position - 1]
        else {
            // A frame that was never read is in a part of the log that was read.
            guard isInFlight(frame) else { return nil }
            return LogDivergence(position: frame.position, own: ledger.digest.value, other: frame.sum, member: nil)
        }
        other.add(frame.sum, at: frame.position)
        if other.value == own { return nil }
        return LogDivergence(position: frame.position, own: own, other: other.value, member: nil)
    }

    /// Two logs exist, and readers may have events of either: another epoch begins, so that no stream resumes. The log is
    /// inspected first, because its end is not known any more.
    mutating func diverged(_ divergence: LogDivergence) -> [MemberAction] {
        counters.divergences += 1
        hasDiverged = true
        phase = .inspecting
        return [.reportDivergence(divergence), inspectLog()]
    }

    /// A joining member can start at the beginning of an epoch if no unknown later epoch began after it.
    private mutating func beginAtEpoch(_ stored: StoredFrame, _ loading: Loading, _ now: Moment) -> [MemberAction] {
        guard !loading.isRefused, stored.wrongChecksum(stored.sum) == nil, let frame = ClusterFrame(stored.bytes),
            frame.kind == .epoch,
            frame.previous >= loading.base
        else { return [] }
        var beginning = ClusterLedger(beginning: frame, at: stored.position)
        beginning.digest.add(stored.sum, at: stored.position)
        ledger = beginning
        phase = .following
        return restarted(at: stored.position, now)
    }

    private mutating func restarted(at position: UInt64, _ now: Moment) -> [MemberAction] {
        guard let ledger else { return [] }
        let epoch = ledger.epoch
        ages.reset()
        history.restart(with: ledger, at: now)
        digests.restart(with: ledger.digest, at: position)
        noteEpoch(epoch)
        epochSeenAt = now
        counters.epochsStarted += 1
        // In a new epoch, all members report what they have.
        if !isLocal { formerResources = nil }
        let actions = resetMembership()
        join()
        let kept = Set(holds.keys)
        return actions + [.restart(epoch: epoch, at: position, keeping: kept, loading: nil, withWindows: false)]
    }

    /// A frame of this member was read from the log: the next one may be appended.
    private mutating func ownFrameRead(_ stored: StoredFrame, _ now: Moment) -> [MemberAction] {
        guard let inFlight, isInFlight(stored) else { return [] }
        counters.appendSeconds.record((now - inFlight.firstSentAt) / .seconds(1))
        self.inFlight = nil
        return [.written(inFlight.records)]
    }

    /// Whether a frame is the one that this member has written last.
    private func isInFlight(_ stored: StoredFrame) -> Bool {
        guard let inFlight, let frame = ClusterFrame(stored.bytes) else { return false }
        return frame.member == member && frame.counter == inFlight.counter
    }

    mutating func fetchIfBehind(at now: Moment, always: Bool = false) -> [MemberAction] {
        guard phase != .offline, phase != .inspecting, !isFetching, let gap = reader.gap else { return [] }
        let since = behindSince ?? now
        behindSince = since
        // Later frames show that the missing ones are not just late, unless the engine has replied that it has none of them.
        let isCertain = gap.upperBound < reader.known && missingSince == nil
        guard always || isCertain || now - since >= timings.fetchDelay else { return [] }
        isFetching = true
        return [.fetch(gap.lowerBound...min(gap.upperBound, gap.lowerBound + Self.fetchLimit - 1))]
    }

    // MARK: - Effects

    private mutating func perform(_ effects: [LedgerEffect], of stored: StoredFrame, _ now: Moment) -> [MemberAction] {
        var changes: [Change] = []
        var actions: [MemberAction] = []
        // After a removal, the subscriptions of the removed member are assigned to others.
        var isTakeover = false
        for effect in effects {
            switch effect {
            case .hub(let change): changes.append(change)
            case .joined(let joined): actions += memberJoined(joined, now)
            case .removed(let gone):
                isTakeover = true
                actions += memberRemoved(gone, by: ClusterFrame(stored.bytes)?.member, now)
            case .assigned(let id):
                if isTakeover, ledger?.topics[id]?.owner == member { counters.takeovers += 1 }
                actions += assigned(id, now)
            case .adopted(let client): actions += adopted(client, now)
            case .wanted(let id, let wanter): actions += wanted(id, by: wanter)
            case .unwanted(let id): noteUnwanted(id, now)
            case .retired(let id, _):
                unwantedSince[id] = nil
                retiring.remove(id)
                if carried.remove(id) != nil { actions.append(.drop(id)) }
            case .inherited(let id):
                actions += inherited(id)
            case .refused(let id, let other): if other == member { actions.append(.surrender(id)) }
            case .ticketMoved(let key, let loser): if loser == member { actions.append(.closeTicketStream(key)) }
            case .ticketsOrphaned(let gone): actions.append(.closeTickets(of: gone))
            case .streamLost(let id, let loser): if loser == member { actions.append(.surrenderStream(id)) }
            case .credited(let upstream, let credits, let owner):
                if owner == member { actions.append(.credit(upstream: upstream, credits)) }
            case .creditsSought(let upstream, let claim):
                if ledger?.awaits(member, for: claim, of: upstream) == true {
                    actions.append(.yieldCredits(upstream: upstream, claim: claim))
                }
            case .decided(let subject, let writer, let outcome):
                if writer == member { actions.append(.report(subject, outcome)) }
            }
        }
        counters.frameEvents.record(Double(changes.count))
        return [.apply(changes, at: stored.position)] + actions
    }

    private func inherited(_ id: String) -> [MemberAction] {
        guard let resource = ledger?.specified[id] else { return [] }
        // A member that was removed while it was paused may have it still: it must not report it again when it joins.
        if resource.isOpen == nil {
            return resource.owner == member ? [.inherit(id, resource.specification)] : [.surrender(id)]
        }
        return resource.owner == member ? [.inheritStream(id, resource.specification)] : [.surrenderStream(id)]
    }

    private mutating func memberJoined(_ joined: UInt64, _ now: Moment) -> [MemberAction] {
        joinSeen[joined] = now
        guard joined == member else { return [] }
        isMember = true
        return [.openOutbox]
    }

    /// A member that leaves by itself writes its removal.
    private mutating func countRemoval(of gone: UInt64, by remover: UInt64?, _ now: Moment) {
        if gone == remover { return counters.membersLeft += 1 }
        counters.membersSilent += 1
        guard gone != member, let silence = monitor.silence(of: gone, at: now) else { return }
        counters.failoverSeconds.record(silence / .seconds(1))
    }

    private mutating func memberRemoved(_ gone: UInt64, by remover: UInt64?, _ now: Moment) -> [MemberAction] {
        countRemoval(of: gone, by: remover, now)
        monitor.forget(gone)
        joinSeen[gone] = nil
        removing.remove(gone)
        configurations[gone] = nil
        for id in carried { noteUnwanted(id, now) }
        guard gone == member else { return [] }
        let actions = resetMembership() + [.forfeitCredits]
        if isLeaving { return actions + [.left] }
        join()
        return actions
    }

    private mutating func assigned(_ id: String, _ now: Moment) -> [MemberAction] {
        guard let topic = ledger?.topics[id] else { return [] }
        guard topic.owner == member else { return carried.remove(id) != nil ? [.drop(id)] : [] }
        carried.insert(id)
        noteUnwanted(id, now)
        return [.carry(id, topic.key, tenure: topic.tenure)]
    }

    private mutating func adopted(_ client: String, _ now: Moment) -> [MemberAction] {
        guard let ledger, let session = ledger.sessions[client], ledger.clients[client]?.owner == member else {
            return []
        }
        let topics = ledger.topics.sorted { $0.key < $1.key }.compactMap { id, topic -> InheritedSession.Topic? in
            guard topic.owner == member, ledger.subscriptions[id]?.carrier == client,
                let number = ledger.subscriptions[id]?.number
            else { return nil }
            return InheritedSession.Topic(id: id, key: topic.key, tenure: topic.tenure, number: number)
        }
        for topic in topics {
            carried.insert(topic.id)
            noteUnwanted(topic.id, now)
        }
        counters.takeovers += UInt64(topics.count)
        counters.adoptions += 1
        return [.adopt(InheritedSession(client: client, session: session, topics: topics))]
    }

    private mutating func wanted(_ id: String, by wanter: UInt64) -> [MemberAction] {
        unwantedSince[id] = nil
        retiring.remove(id)
        if wanter == member, holds[id]?.stage == .wanting { holds[id]?.stage = .wanted }
        let isRefused = carried.contains(id) && ledger?.subscriptions[id]?.isActive == false
        return isRefused ? [.reactivate(id)] : []
    }

    private mutating func noteUnwanted(_ id: String, _ now: Moment) {
        guard carried.contains(id), ledger?.topics[id]?.wantedBy.isEmpty == true, unwantedSince[id] == nil else {
            return
        }
        unwantedSince[id] = now
    }

    // MARK: - Writing

    /// The next frame to append; nil if nothing waits, or if the previous frame was not read from the log yet.
    package mutating func nextFrame(from outbox: inout Outbox, at now: Moment) -> [UInt8]? {
        guard isFollowing, inFlight == nil, let epoch = ledger?.epoch, let digest = ledger?.digest else { return nil }
        if !newHolds.isEmpty { declareHolds() }
        if hasSuspects { removeSilent(at: now) }
        if outbox.hasOverflowed, isMember {
            // Dropped records cannot be recovered one by one: the member leaves and joins again.
            control = [.remove(member)]
            removing.insert(member)
        }
        var payload = control.flatMap(\.encoded)[...]
        if isMember, control.isEmpty {
            payload = outbox.takeRecords(atMost: Self.frameRecords, bytes: Self.frameBytes)
            if !payload.isEmpty { recordsTaken = outbox.recordsFramed }
        }
        guard !payload.isEmpty else { return nil }
        control = []
        counter += 1
        counters.framesAppended += 1
        let frame = ClusterFrame(
            format: writtenFormat(at: now),
            member: member,
            epoch: epoch,
            previous: reader.position,
            digest: digest.value,
            counter: counter,
            payload: payload
        )
        let bytes = frame.bytes
        inFlight = FrameInFlight(
            counter: counter,
            records: recordsTaken,
            bytes: bytes,
            firstSentAt: now,
            sentAt: now
        )
        return bytes
    }

    /// The newest format that all members read, and the processes that are about to join.
    private func writtenFormat(at now: Moment) -> UInt8 {
        let members = ledger?.formats?.common(with: formats) ?? formats
        return heardFormats.common(with: members, since: now - timings.suspect).newest
    }

    /// The last frame of this member had no effect because of its format: writes the records again, in another one.
    private mutating func rewritten(at now: Moment) -> [MemberAction] {
        guard let inFlight, var frame = ClusterFrame(inFlight.bytes) else { return [] }
        frame.format = writtenFormat(at: now)
        self.inFlight?.bytes = frame.bytes
        return resend(at: now)
    }

    mutating func resend(at now: Moment) -> [MemberAction] {
        guard var inFlight else { return [] }
        inFlight.sentAt = now
        self.inFlight = inFlight
        counters.framesRepeated += 1
        return [.append(inFlight.bytes)]
    }
}
