package import StreamIO

/// Loading the state of the cluster: from a member that has it, or empty at the beginning of an epoch.
extension MemberMachine {
    mutating func requestState(at now: Moment) -> [MemberAction] {
        guard case .loading(var loading) = phase else { return [] }
        // Only requests count that the engine can deliver, with their replies.
        if monitor.isReachable(at: now) { loading.requests += 1 }
        loading.nextRequest = now + timings.requestInterval
        phase = .loading(loading)
        return [.requestState]
    }

    mutating func loadingTimePassed(_ loading: Loading, at now: Moment) -> [MemberAction] {
        guard now >= loading.nextRequest else { return [] }
        if loading.beginning != nil { return beginEpoch(at: now) }
        let waits = monitor.hearsOthers(at: now) && now - loading.since < timings.loading
        return loading.requests < timings.requestCount || waits ? requestState(at: now) : beginEpoch(at: now)
    }

    mutating func beginEpoch(at now: Moment) -> [MemberAction] {
        guard case .loading(var loading) = phase else { return [] }
        let bytes = loading.beginning ?? epochFrame()
        loading.beginning = bytes
        loading.nextRequest = now + timings.resend
        phase = .loading(loading)
        return [.append(bytes)]
    }

    private mutating func epochFrame() -> [UInt8] {
        var writer = ByteWriter()
        writer.varint(UInt64(groups))
        let frame = ClusterFrame(
            kind: .epoch,
            member: member,
            epoch: randomNumber(),
            previous: reader.position,
            counter: 0,
            payload: writer.bytes[...]
        )
        return frame.bytes
    }

    /// A member sent its state. It is used if it belongs to this log and the log still has the frames after it.
    package mutating func stateArrived(_ snapshot: ClusterSnapshot, at now: Moment) -> [MemberAction] {
        guard case .loading = phase, snapshot.created == created, snapshot.ledger.position + 1 >= firstKept,
            snapshot.ledger.position <= reader.known
        else { return [] }
        let known = reader.known
        ledger = snapshot.ledger
        reader = LogReader(position: snapshot.ledger.position)
        reader.reaches(known)
        ages.reset()
        noteEpoch(snapshot.ledger.epoch)
        epochSeenAt = nil
        for member in snapshot.ledger.members.keys { joinSeen[member] = now }
        counters.epochs += 1
        let restart = MemberAction.restart(
            epoch: snapshot.ledger.epoch,
            at: reader.position,
            keeping: Set(holds.keys),
            loading: snapshot
        )
        phase = .following
        join()
        return [restart] + surrenderFormerResources() + fetchIfBehind(at: now, always: true)
    }

    /// Releases the resources that this member owned earlier in the epoch: other members have inherited them, and may have
    /// deleted them. This member must not report them again.
    private mutating func surrenderFormerResources() -> [MemberAction] {
        defer { formerResources = nil }
        guard let formerResources, formerResources.epoch == ledger?.epoch else { return [] }
        return formerResources.areStreams.sorted { $0.key < $1.key }.map { id, isStream in
            isStream ? .surrenderStream(id) : .surrender(id)
        }
    }

    /// Joins, and declares what local readers need.
    mutating func join() {
        control = isLeaving ? [] : [.join(info)]
        newHolds = []
        for (id, hold) in holds.sorted(by: { $0.key < $1.key }) {
            control.append(.want(id: id, hold.key))
            holds[id]?.stage = .wanting
        }
    }

    /// The state for a joining member, without the values; nil while this member must not reply.
    package func state(at now: Moment) -> (created: String, ledger: ClusterLedger)? {
        guard isServing(at: now), isMember, let ledger, let created else { return nil }
        return (created, ledger)
    }
}
