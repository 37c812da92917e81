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

    /// A frame of this member was read from the log: the next one may be appended.
    private mutating func ownFrameRead(_ entry: LogEntry, _ now: Moment) -> [MemberAction] {
        guard writer.isInFlight(entry.frame), let (records, delay) = writer.read(at: now) else { return [] }
        if !reports.hasOwn { reports.written(records) }
        counters.appendSeconds.record(delay / .seconds(1))
        return [.written(records)]
    }

    mutating func fetchIfBehind(at now: Moment, always: Bool = false) -> [MemberAction] {
        guard phase != .offline, phase != .inspecting,
            let gap = reader.gapToFetch(after: timings.fetchDelay, always: always, at: now)
        else { return [] }
        return [.fetch(gap)]
    }

    // MARK: - Effects

    private mutating func perform(_ effects: [LedgerEffect], of entry: LogEntry, _ now: Moment) -> [MemberAction] {
        var changes: [Change] = []
        var actions: [MemberAction] = []
        if !handedOver.openings.isEmpty, let frame = entry.frame {
            actions += handedOver.read(frame.previous, by: frame.member)
        }
        // After a removal, the subscriptions of the removed member are assigned to others.
        var isTakeover = false
        for effect in effects {
            switch effect {
            case .hub(let change): changes.append(change)
            case .joined(let joined):
                monitor.joined(joined, at: now)
                if joined == member { actions.append(.openOutbox) }
            case .removed(let gone):
                isTakeover = true
                actions += memberRemoved(gone, by: entry.frame?.member, now)
            case .assigned(let id, let owner):
                guard let ledger, ledger.topics.byID[id]?.owner == owner else { continue }
                if isTakeover, owner == member { counters.takeovers += 1 }
                actions += carried.assigned(id, in: ledger, to: member, at: now)
            case .adopted(let client, let owner):
                guard owner == member, let ledger,
                    let session = carried.adopted(client, in: ledger, by: member, at: now)
                else { continue }
                counters.takeovers += UInt64(session.topics.count)
                counters.adoptions += 1
                actions.append(.adopt(session))
            case .interestAdded(let id, let other): actions += interestAdded(id, by: other)
            case .interestRemoved(let id): if let ledger { carried.noteInterest(id, in: ledger, at: now) }
            case .retired(let id, let wasSubscribed):
                if carried.remove(id) { actions.append(.drop(id)) }
                // The place of a change in the frame is the number of its event: there is one change, as on other members.
                changes.append(readers.end(of: id, wasSubscribed))
            case .inherited(let id, let owner):
                guard let resource = ledger?.specified[id], resource.owner == owner else { continue }
                actions.append(handedOver.inherited(id, resource, by: member))
            case .ticketsOrphaned(let gone): actions.append(.closeTickets(of: gone))
            case .sourcesAdded: noteAddition(effect, in: ledger, at: entry.position)
            case .streamLost(let id, let loser):
                noteAddition(effect, in: ledger, at: entry.position)
                guard loser == member else { continue }
                actions += handedOver.lost(id, to: entry.frame?.member, of: member, at: entry.position)
            case .creditsSought(let upstream, let claim):
                if ledger?.awaits(member, for: claim, of: upstream) == true {
                    actions.append(.releaseUnusedCredits(upstream: upstream, claim: claim))
                }
            case .order(let action, let other): if other == member { actions.append(action) }
            }
        }
        counters.frameEvents.record(Double(changes.count))
        return [.apply(changes, at: entry.position)] + actions
    }

    private mutating func memberRemoved(_ gone: UInt64, by remover: UInt64?, _ now: Moment) -> [MemberAction] {
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

    private mutating func interestAdded(_ id: String, by other: UInt64) -> [MemberAction] {
        let isCarried = carried.interestAdded(id)
        if other == member { readers.interestAdded(id) }
        guard ledger?.subscriptions[id]?.isActive == false else { return [] }
        return (readers.contains(id) ? [.reopened(id)] : []) + (isCarried ? [.reactivate(id)] : [])
    }

    /// Notes that a prepared stream has got sources by a frame, and forgets a removed one. `ledger`: the state after the frame.
    mutating func noteAddition(_ effect: LedgerEffect, in ledger: ClusterLedger?, at position: UInt64) {
        switch effect {
        case .sourcesAdded(let id): additions[id] = position
        case .streamLost(let id, _): if ledger?.specified[id] == nil { additions[id] = nil }
        default: break
        }
    }

    // MARK: - Writing

    /// The next frame to append; nil if nothing waits, or if the previous frame was not read from the log yet.
    package mutating func nextFrame(from outbox: inout Outbox, at now: Moment) -> [UInt8]? {
        guard isFollowing, writer.isIdle, end.isConfirmed || confirmsEnd(at: now), let ledger else { return nil }
        if isMember, !reports.hasOwn { reports.wait(for: outbox) }
        if !readers.new.isEmpty, !isLeaving { writer.control += readers.declareNew() }
        if hasSuspects { removeSilent(at: now) }
        if outbox.hasOverflowed, isMember {
            // Dropped records cannot be recovered one by one: the member leaves and joins again.
            writer.control = []
            writer.remove(member)
        }
        guard let records = writer.takeRecords(isMember, from: &outbox) else { return nil }
        let frame = ClusterFrame(
            format: writtenFormat(at: now),
            member: member,
            epoch: ledger.epoch,
            previous: reader.position,
            digest: ledger.digest.value,
            payload: records
        )
        counters.framesAppended += 1
        return writer.append(frame, at: now)
    }

    /// The newest format that all members read, and the processes that are about to join.
    private func writtenFormat(at now: Moment) -> UInt8 {
        let members = ledger?.formats?.common(with: formats) ?? formats
        return monitor.formats.areMixed
            ? monitor.formats.common(with: members, since: now - timings.suspect).newest : members.newest
    }

    /// Appends the frame in flight again unless it was sent within `time`.
    mutating func resend(after time: Duration = .zero, in format: UInt8? = nil, at now: Moment) -> [MemberAction] {
        guard confirmsEnd(at: now), let bytes = writer.repeated(after: time, in: format, at: now) else { return [] }
        counters.framesRepeated += 1
        return [.append(bytes)]
    }

    // MARK: - Time

    /// Handles timeouts; called several times within the shortest of the timings.
    package mutating func timePassed(at now: Moment) -> [MemberAction] {
        monitor.timePassed(at: now)
        if phase != .offline, monitor.isSilent(at: now) {
            // The library's own detection depends on the wall clock, and it may wait for a write that does not end.
            monitor.connected(at: now)
            return [.reconnect(isLogMissing: false)]
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
