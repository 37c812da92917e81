internal import Changes
package import Primitives

/// The loading of the state of the cluster: from a member that has the state, or empty at the beginning of an epoch.
struct StateLoading: Sendable, Equatable {
    let since: Moment
    /// Epochs that began before this position are unknown.
    let base: UInt64
    /// The epoch that ends because the engine has shown two logs; nil: this member enters the present one.
    let ending: UInt64?
    /// The requests for the state that were sent while the engine was reachable.
    private var requests = 0
    /// When the next request is due, or the next repetition of `beginning`.
    private(set) var next: Moment
    /// The frame that begins an epoch, if this member appended one.
    private(set) var beginning: [UInt8]?
    /// Whether members share no format with this one.
    private(set) var isRefused = false

    init(base: UInt64, ending: UInt64? = nil, at now: Moment) {
        (since, next, self.base, self.ending) = (now, now, base, ending)
    }

    /// Whether no member will send its state, or none is to send it.
    func beginsEpoch(_ hearsOthers: Bool, _ timings: ClusterTimings, at now: Moment) -> Bool {
        if beginning != nil || ending != nil { return true }
        return requests >= timings.requestCount && !(hearsOthers && now - since < timings.loading)
    }

    /// A request was sent. Only requests count that the engine can deliver, with their replies.
    mutating func requested(isReachable: Bool, next: Moment) {
        (requests, self.next) = (isReachable ? requests + 1 : requests, next)
    }

    /// Members share no format with this one.
    mutating func refused(next: Moment) { (isRefused, requests, self.next) = (true, 0, next) }

    mutating func began(with frame: [UInt8], next: Moment) { (beginning, self.next) = (frame, next) }
}

extension MemberMachine {
    enum Phase: Equatable {
        /// No connection to the engine. *Entered* at start and by `disconnected`; *leaves to* `inspecting`.
        case offline
        /// Connected; the log may be another one. *Entered* by `connected`; *leaves to* `loading`, `following`.
        case inspecting
        /// Without state. *Entered* by `logInspected`; *leaves to* `replaying`, `following`.
        case loading(StateLoading)
        /// Rebuilds the windows of recent events. *Entered* by `stateArrived`; *leaves to* `following`, `loading`.
        case replaying
        /// Applies the log in order. *Entered* by `logInspected`, `stateArrived`, `arrived`, `fetched` and `timePassed`;
        /// *leaves to* `inspecting`, `loading`.
        case following
    }

    /// The reading of the log from an earlier state up to a snapshot.
    struct Replay {
        let snapshot: ClusterSnapshot
        /// The ledger as of the last frame that was read.
        var ledger: ClusterLedger
        /// The time at which the member continues without recent events.
        let deadline: Moment
    }

    /// Earlier states are this part of the time apart for which the log keeps frames. None that is older than all parts
    /// but one is sent to a joining member, so that the log still has the frames after it when they are read.
    static let windowParts = 4

    var loading: StateLoading? {
        get { if case .loading(let loading) = phase { loading } else { nil } }
        set { if let newValue { phase = .loading(newValue) } }
    }

    mutating func requestState(at now: Moment) -> [MemberAction] {
        let (isReachable, next) = (monitor.isReachable(at: now), now + timings.requestInterval)
        loading?.requested(isReachable: isReachable, next: next)
        return [.requestState(formats.ofState)]
    }

    mutating func loadingTimePassed(_ present: StateLoading, at now: Moment) -> [MemberAction] {
        guard now >= present.next else { return [] }
        if !isLocal, let members = monitor.formats.refusal(since: now - timings.suspect) {
            let next = now + timings.requestInterval
            loading?.refused(next: next)
            return present.isRefused ? [] : [.reportRefusal(own: formats, members: members)]
        }
        // They are gone.
        if present.isRefused { loading = StateLoading(base: present.base, at: now) }
        let begins = !present.isRefused && present.beginsEpoch(monitor.hearsOthers(at: now), timings, at: now)
        return begins ? beginEpoch(at: now) : requestState(at: now)
    }

    mutating func beginEpoch(at now: Moment) -> [MemberAction] {
        let (bytes, next) = (loading?.beginning ?? epochFrame(), now + timings.resend)
        loading?.began(with: bytes, next: next)
        return [.append(bytes)]
    }

    private mutating func epochFrame() -> [UInt8] {
        ClusterFrame(
            format: formats.newest,
            kind: .epoch,
            member: member,
            epoch: randomNumber(),
            previous: reader.position,
            payload: Wire<Int>.groups.bytes(groups)[...]
        )
        .bytes
    }

    /// A joining member can start at the beginning of an epoch if no unknown later epoch began after it. The log may have gone
    /// back, and the delayed frame that began a former epoch may be in the log once more.
    mutating func beginAtEpoch(_ entry: LogEntry, _ loading: StateLoading, _ now: Moment) -> [MemberAction] {
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

    /// Whether this member uses the state of another one.
    package var awaitsState: Bool { loading != nil }

    /// A member sent its state. It is used if it belongs to this log and the log still has the frames after it.
    package mutating func stateArrived(_ snapshot: ClusterSnapshot, at now: Moment) -> [MemberAction] {
        guard let loading, snapshot.ledger.epoch != loading.ending,
            snapshot.created == inspections.created,
            snapshot.ledger.position <= reader.known, snapshot.ledger.position + 1 >= inspections.first,
            !former.isNewer(than: snapshot.ledger)
        else { return [] }
        let begin = MemberAction.beginWindows(snapshot.start, lastEvents: snapshot.past?.lastEvents ?? [:])
        guard let earlier = snapshot.earlier?.ledger else {
            return [begin] + load(snapshot, withWindows: true, at: now)
        }
        guard earlier.epoch == snapshot.ledger.epoch, earlier.position < snapshot.ledger.position,
            earlier.position + 1 >= inspections.first
        else { return load(snapshot, withWindows: false, at: now) }
        replay = Replay(snapshot: snapshot, ledger: earlier, deadline: now + timings.replay)
        phase = .replaying
        reader.restart(after: earlier.position, known: reader.known)
        return [begin] + fetchIfBehind(at: now, always: true)
    }

    // MARK: - Windows of recent events

    /// Applies a frame between the earlier state and the snapshot.
    mutating func replay(_ entry: LogEntry, at now: Moment) -> [MemberAction] {
        if let frame = entry.frame, frame.kind == .records, !formats.contains(frame.format) {
            return endReplay(isComplete: false, at: now)
        }
        guard let result = replay?.ledger.apply(entry), let replay else { return [] }
        var changes: [Change] = []
        if case .taken(let effects) = result {
            for effect in effects { noteAddition(effect, in: replay.ledger, at: entry.position) }
            changes = effects.compactMap { effect in
                switch effect {
                case .hub(let change): change
                case .retired(let id, _): .subscription(SubscriptionID(id), .removed)
                default: nil
                }
            }
        }
        let extend = MemberAction.extendWindows(changes, at: entry.position)
        let (own, other) = (replay.ledger.digest.value, replay.snapshot.ledger.digest.value)
        let isEnd = entry.position == replay.snapshot.ledger.position
        // The member that sent the snapshot is in the epoch, so it has read neither a gap nor the beginning of another one.
        if result == .lost || result == .epochStarted || isEnd && own != other {
            return [extend] + diverged(LogDivergence(position: entry.position, own: own, other: other, member: nil))
        }
        return isEnd ? [extend] + endReplay(isComplete: true, at: now) : [extend]
    }

    mutating func replayTimePassed(_ deadline: Moment, at now: Moment) -> [MemberAction] {
        guard now >= deadline else { return fetchIfBehind(at: now) }
        // The frames after the snapshot must not wait for a result that is late.
        reader.fetchEnded(isReplied: false)
        return endReplay(isComplete: false, at: now)
    }

    mutating func endReplay(isComplete: Bool, at now: Moment) -> [MemberAction] {
        guard let snapshot = replay?.snapshot else { return [] }
        return load(snapshot, withWindows: isComplete, at: now)
    }

    // MARK: - State

    /// Continues with the state of a snapshot, and joins.
    ///
    /// - Parameter withWindows: Whether the windows of recent events were rebuilt up to the snapshot.
    private mutating func load(_ snapshot: ClusterSnapshot, withWindows: Bool, at now: Moment) -> [MemberAction] {
        ledger = snapshot.ledger
        replay = nil
        if let past = snapshot.past { additions = past.additions }
        if reader.position != snapshot.ledger.position {
            reader.restart(after: snapshot.ledger.position, known: reader.known)
        }
        history.restart(with: snapshot.ledger, after: withWindows ? snapshot.earlier : nil, at: now)
        reports.begin(at: snapshot.epochAge.map { now - $0 })
        for member in snapshot.ledger.members.keys { monitor.joined(member, at: now) }
        counters.epochsLoaded += 1
        let restart = MemberAction.restart(
            epoch: snapshot.ledger.epoch,
            at: reader.position,
            keeping: readers.ids,
            loading: snapshot,
            withWindows: withWindows
        )
        phase = .following
        join()
        // This process is one member: nothing waits until the others find its former number silent.
        let own = snapshot.ledger.members.filter { $0.value.info.process == process }.keys.sorted()
        if !isLeaving { writer.control += own.map { .remove($0) } }
        return [restart] + former.release(in: snapshot.ledger) + fetchIfBehind(at: now, always: true)
    }

    /// Joins, and declares what local readers need. A process that leaves writes nothing: no member would have the frames.
    mutating func join() { writer.control = isLeaving ? [] : [.join(info)] + readers.declareAll() }

    /// The state for a joining member that reads some formats, without the values, and the format to send it in; nil while this
    /// member must not reply, or shares none of the formats.
    package func state(for other: Formats, at now: Moment) -> (snapshot: ClusterSnapshot, format: UInt8)? {
        guard isServing(at: now), isMember, end.isConfirmed, let ledger, let created = inspections.created,
            ledger.formats?.common(with: other) != nil, let common = formats.ofState.common(with: other)
        else { return nil }
        let limit = timings.window * (Self.windowParts - 1) / Self.windowParts
        let earlier = history.oldest(upTo: limit, before: ledger.position, at: now)
        let epochAge = isComplete(at: now) ? nil : reports.age(at: now)
        var snapshot = ClusterSnapshot(created: created, ledger: ledger, earlier: earlier, epochAge: epochAge)
        if common.newest >= Formats.ofPast { snapshot.past = ClusterPast(additions: additions) }
        return (snapshot, common.newest)
    }
}
