internal import Changes
package import Primitives

/// Decides what one gateway process does as a member of a cluster.
///
/// ```text
/// offline ──connected──▶ inspecting ──logInspected──▶ loading ──stateArrived──▶ replaying
///                            │                           │ stateArrived, or         │ all is read,
///                            │ the log continues where   │ an epoch begins          │ or it takes too long
///                            ▼ this member stopped       ▼                          ▼
///                        following ◀─────────────────────┴──────────────────────────┘
/// ```
///
/// Every state leaves to `offline` by `disconnected`. A member that follows the log belongs to the cluster from its own
/// `join` until its `remove`; then it joins again under another number.
package struct MemberMachine: Sendable {
    private(set) var timings: ClusterTimings
    private(set) var info: MemberInfo
    let groups: Int
    private(set) var configuration: UInt64
    private var seed: UInt64

    var phase = Phase.offline
    /// Whether the log is that of this process alone, because the engine is away.
    package internal(set) var isLocal = false
    var inspections = LogInspections()
    var end = EndOfLog()
    var former = FormerState()
    var reader = LogReader()
    package internal(set) var ledger: ClusterLedger?
    var replay: Replay?
    var history = LedgerHistory()
    package internal(set) var member: UInt64
    var isLeaving = false
    var writer = FrameWriter()
    var readers = LocalReaders()
    var carried = CarriedTopics()
    /// Whether members were silent when the deadlines were checked last.
    var hasSuspects = false
    var monitor: HeartbeatMonitor
    var reports = EpochReports()
    var handedOver = HandedOverStreams()
    /// The positions of the log at which prepared streams got their last sources, as far as this member has read the log.
    package internal(set) var additions: [String: UInt64] = [:]
    var lostUpstreams = LostUpstreams()
    var counters = MemberCounters()
    /// When a member was removed last; nil: none was.
    package internal(set) var lastRemoval: Moment?

    /// A member that is not connected.
    ///
    /// - Parameters:
    ///   - info: The information that it announces to other members.
    ///   - seed: A random number that no other process has.
    ///   - groups: The number of groups of an upstream's subscriptions in the epochs that this member begins.
    ///   - configuration: A digest of the configuration that members should have in common.
    ///   - formats: The formats that it reads and writes.
    package init(
        info: MemberInfo,
        seed: UInt64,
        groups: Int,
        configuration: UInt64 = 0,
        formats: Formats = .supported,
        timings: ClusterTimings = ClusterTimings()
    ) {
        self.info = info
        self.info.formats = formats
        self.groups = groups
        self.configuration = configuration
        self.timings = timings
        self.info.process = SplitMix64.mixed(seed)
        member = SplitMix64.mixed(seed &+ 1)
        self.seed = seed &+ 2
        monitor = HeartbeatMonitor(timings: timings, formats: formats)
    }

    /// The configuration changed, by a reload: its digest, the upstreams that the member can connect to, and how long
    /// subscriptions linger. Nil: as before.
    package mutating func configurationChanged(_ digest: UInt64, upstreams: [String]? = nil, linger: Duration? = nil) {
        configuration = digest
        if let upstreams { info.upstreams = upstreams }
        if let linger { timings.linger = linger }
    }

    /// A new random number, never 0.
    mutating func randomNumber() -> UInt64 {
        defer { seed &+= 1 }
        // In a heartbeat, 0 means that the process is no member.
        return max(1, SplitMix64.mixed(seed))
    }

    /// Names the process.
    package var process: UInt64 { info.process }

    /// The formats that this member reads and writes.
    package var formats: Formats { info.formats }

    /// Whether the process belongs to the cluster.
    package var isMember: Bool { ledger?.members[member] != nil }

    /// Whether this member belongs to the cluster and misses no frame: until an input arrives, only deadlines change that.
    package var isSettled: Bool { isFollowing && isMember && reader.behindSince == nil }

    var isFollowing: Bool { phase == .following && ledger != nil }

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

    /// Whether an epoch is an earlier one of this member: its state is newer than all events of that epoch.
    package func isPast(_ epoch: UInt64) -> Bool {
        guard let ledger else { return false }
        return ledger.earlierEpochs.contains(epoch) || history.wasIn(epoch, before: ledger.epoch)
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

    // MARK: - Reading

    package mutating func arrived(_ frame: StoredFrame, at now: Moment) -> [MemberAction] {
        if frame.position <= reader.position, let divergence = contradiction(by: frame) { return diverged(divergence) }
        if reader.arrived(frame), frame.position == reader.position + 1 { reader.missingSince = nil }
        return drain(at: now) + fetchIfBehind(at: now)
    }

    /// Missing frames were fetched: in any order, and possibly not all of them.
    package mutating func fetched(_ frames: [StoredFrame], at now: Moment) -> [MemberAction] {
        reader.fetchEnded()
        let position = reader.position
        for frame in frames {
            if frame.position <= reader.position, let other = contradiction(by: frame) { return diverged(other) }
            if frame.position == reader.unproven { reader.unproven = nil }
            if reader.arrived(frame) { counters.framesFetched += 1 }
        }
        let actions = drain(at: now)
        let hasNext = reader.position > position
        reader.missingSince = hasNext || reader.gap == nil ? nil : reader.missingSince ?? now
        return actions + fetchIfBehind(at: now, always: hasNext)
    }

    /// Missing frames could not be fetched.
    ///
    /// - Parameter isMissing: Whether the engine has replied that it does not have the first of them.
    package mutating func fetchFailed(isMissing: Bool, at now: Moment) -> [MemberAction] {
        reader.fetchEnded(isReplied: isMissing)
        // Without the frame, nothing can be compared.
        if isMissing { reader.unproven = nil }
        reader.missingSince = isMissing && reader.gap != nil ? reader.missingSince ?? now : nil
        if phase == .replaying { return endReplay(isComplete: false, at: now) }
        if !isMissing { reader.pause(for: timings.resend) }
        reader.behindSince = now
        return phase == .offline || inspections.isPending ? [] : [inspectLog()]
    }

    /// Applies the frames that can be applied in order.
    mutating func drain(at now: Moment) -> [MemberAction] {
        var actions: [MemberAction] = []
        while phase != .inspecting, phase != .offline, reader.unproven == nil, let frame = reader.next() {
            actions += apply(LogEntry(frame), at: now)
        }
        if reader.position >= reader.known { reader.behindSince = nil }
        return actions
    }

    private mutating func apply(_ entry: LogEntry, at now: Moment) -> [MemberAction] {
        let position = entry.position
        counters.framesApplied += 1
        if case .loading(let loading) = phase { return beginAtEpoch(entry, loading, now) }
        if !isMember, isUnreadable(entry) { return enter(from: position, at: now) }
        if phase == .replaying { return replay(entry, at: now) }
        if let frame = entry.frame, frame.kind == .records, frame.epoch == ledger?.epoch,
            let divergence = history.digests.otherPast(of: frame.member, upTo: frame.previous, frame.digest)
        {
            return diverged(divergence)
        }
        history.bytes += entry.size
        guard let result = ledger?.apply(entry), let digest = ledger?.digest else { return [] }
        history.digests.append(digest, at: position)
        switch result {
        case .taken(let effects):
            let written = ownFrameRead(entry, now)
            return perform(effects, of: entry, now) + written
        case .again:
            counters.framesIgnoredRepeated += 1
            return [.apply([], at: position)] + ownFrameRead(entry, now)
        case .stale:
            counters.framesIgnoredStale += 1
            // A member that shared a format with others may have been refused because of one that has joined before.
            if !isMember, writer.isInFlight(entry.frame) { return enter(from: position, at: now) }
            return [.apply([], at: position)]
        case .unreadable:
            counters.framesIgnoredStale += 1
            let isOwn = writer.isInFlight(entry.frame)
            return [.apply([], at: position)] + (isOwn ? resend(in: writtenFormat(at: now), at: now) : [])
        case .damaged:
            let written = entry.wrongSum ?? entry.sum
            return diverged(LogDivergence(position: position, own: entry.sum, other: written, member: nil))
        case .lost: return enter(from: position, at: now)
        case .epochStarted: return restarted(at: position, now)
        }
    }

    mutating func fetchIfBehind(at now: Moment, always: Bool = false) -> [MemberAction] {
        guard phase != .offline, phase != .inspecting,
            let gap = reader.gapToFetch(after: timings.fetchDelay, always: always, at: now)
        else { return [] }
        return [.fetch(gap)]
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

    /// Leaves the cluster: the subscriptions of this member are assigned to others at once.
    package mutating func leave() -> [MemberAction] {
        isLeaving = true
        guard isMember, isFollowing else { return [.left] }
        writer.remove(member)
        return []
    }
}
