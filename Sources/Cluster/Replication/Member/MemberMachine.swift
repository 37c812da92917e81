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
/// `join` until a `remove` of it; it then joins again under another number.
package struct MemberMachine: ~Copyable, Sendable {
    enum Phase: Equatable {
        /// No connection to the engine. *Entered* at start and by `disconnected`; *leaves to* `inspecting`.
        case offline
        /// Connected; it is not known yet whether the log is still the same. *Entered* by `connected`; *leaves to*
        /// `loading`, `following`.
        case inspecting
        /// Without state. *Entered* by `logInspected`; *leaves to* `replaying`, `following`.
        case loading(Loading)
        /// Rebuilds the windows of recent events from the log. *Entered* by `stateArrived`; *leaves to* `following`,
        /// `loading`.
        case replaying
        /// Applies the log in order. *Entered* by `logInspected`, `stateArrived`, `arrived`, `fetched` and `timePassed`;
        /// *leaves to* `inspecting`, `loading`.
        case following
    }

    struct Loading: Equatable {
        let since: Moment
        /// The requests for the state that were sent while the engine was reachable.
        var requests = 0
        /// When the next request is due, or the next repetition of `beginning`.
        var nextRequest: Moment
        /// Epochs that began before this position are unknown.
        let base: UInt64
        /// The frame that begins an epoch, if this member appended one.
        var beginning: [UInt8]?
        /// Whether members share no format with this one.
        var isRefused = false
    }

    /// The reading of the log from an earlier state up to a snapshot.
    struct Replay {
        let snapshot: ClusterSnapshot
        /// The ledger as of the last frame that was read.
        var ledger: ClusterLedger
        /// The time at which the member continues without recent events.
        let deadline: Moment
    }

    /// A frame that was appended and not read from the log yet.
    struct FrameInFlight: Equatable {
        let counter: UInt64
        /// The number of the outbox's records up to its last one.
        let records: UInt64
        var bytes: [UInt8]
        let firstSentAt: Moment
        var sentAt: Moment
    }

    /// A shared subscription with local readers.
    struct Hold: Equatable {
        /// All holds return to `unknown` when the member is removed.
        enum Stage: Equatable {
            /// Its `want` was not appended yet. *Leaves to* `wanting`.
            case unknown
            /// Its `want` was appended and not read back yet. *Leaves to* `wanted`.
            case wanting
            /// Its `want` was read from the log.
            case wanted
        }

        let key: SharedTopicKey
        var stage: Stage
        var readers: Int
        var idleSince: Moment?
    }

    /// The specified resources that this member owned in an epoch when it lost the state of the cluster, and whether each
    /// of them is a prepared stream.
    struct FormerResources: Equatable {
        let epoch: UInt64
        let areStreams: [String: Bool]
    }

    /// The maximum number of records of one frame, and their maximum size in bytes.
    static let frameRecords = 256
    static let frameBytes = 64 << 10
    /// The maximum number of frames that one request fetches.
    static let fetchLimit: UInt64 = 512

    let timings: ClusterTimings
    private(set) var info: MemberInfo
    /// Names the process.
    package let process: UInt64
    let groups: Int
    var configuration: UInt64
    private var seed: UInt64

    var phase = Phase.offline
    /// Whether the log is that of this process alone, because the engine is away.
    package private(set) var isLocal = false
    var created: String?
    var firstKept: UInt64 = 0
    /// The position of the last frame when the log was inspected.
    private var endAtConnection: UInt64 = 0
    /// The number of orders to inspect the log without a result, and the position of this member at the last one.
    private(set) var inspections = 0
    private var inspectedFrom: UInt64 = 0
    /// The epoch and the position up to which this member has applied the log when it lost the state of the cluster.
    private var former: (epoch: UInt64, position: UInt64)?
    var reader = LogReader(position: 0)
    package internal(set) var ledger: ClusterLedger?
    /// The replay, in the phase `replaying`.
    var replay: Replay?
    var history = LedgerHistory()
    /// The digests of the frames that were applied.
    var digests = RecentDigests()
    /// Whether the engine has shown two logs in this epoch, and the log is being inspected to begin another one.
    var hasDiverged = false
    package internal(set) var member: UInt64
    var counter: UInt64 = 0
    package internal(set) var isMember = false
    var isLeaving = false
    var inFlight: FrameInFlight?
    /// The number of the outbox's records that were taken for frames.
    var recordsTaken: UInt64 = 0
    var control: [ClusterRecord] = []
    var holds: [String: Hold] = [:]
    /// Those of them without a record in the log.
    var newHolds: [String] = []
    var carried: Set<String> = []
    var unwantedSince: [String: Moment] = [:]
    var retiring: Set<String> = []
    var removing: Set<UInt64> = []
    /// Whether members were silent when the deadlines were checked last.
    var hasSuspects = false
    var monitor: HeartbeatMonitor
    var joinSeen: [UInt64: Moment] = [:]
    var nextHeartbeat = Moment.zero
    var behindSince: Moment?
    /// The epochs that this member has been in, newest last.
    private var pastEpochs: [UInt64] = []
    /// The time at which the epoch began for this member, or for the one that sent it the state; nil: long ago.
    var epochSeenAt: Moment?
    /// Which requests with an `Idempotency-Key` have expired.
    var ages = PositionAges(lifetime: IdempotentRequests.lifetime)
    var isFetching = false
    /// The time since which the engine has replied to all requests that it does not have the next frame; nil: it has.
    var missingSince: Moment?
    /// The time at which a member was in another epoch while this one had read the whole log; nil: none was.
    var otherEpochSince: Moment?
    var formerResources: FormerResources?
    /// The formats of other processes, from their heartbeats.
    var heardFormats = HeardFormats()
    /// The digests of the members' configurations, from their heartbeats.
    var configurations: [UInt64: UInt64] = [:]
    var counters = MemberCounters()

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
        process = SplitMix64.mixed(seed)
        self.info.process = process
        member = SplitMix64.mixed(seed &+ 1)
        self.seed = seed &+ 2
        monitor = HeartbeatMonitor(timings: timings)
    }

    /// A new random number, never 0.
    mutating func randomNumber() -> UInt64 {
        defer { seed &+= 1 }
        // In a heartbeat, 0 means that the process is no member.
        return max(1, SplitMix64.mixed(seed))
    }

    /// The formats that this member reads and writes.
    package var formats: Formats { info.formats }

    /// The position up to which the log is applied.
    package var position: UInt64 { reader.position }

    /// Whether streams may be opened on this member, and requests answered from its ledger: not before it has read what
    /// the log had when its connection was opened.
    package func isServing(at now: Moment) -> Bool {
        isFollowing && position >= endAtConnection && monitor.isReachable(at: now)
    }

    /// Whether no other member can have adopted the sessions of this one: it is not leaving, has not been missing frames
    /// for `fetchDelay`, and its last heartbeat is too recent for others to suspect it.
    package func ownsSessions(at now: Moment) -> Bool {
        let isBehind = behindSince.map { now - $0 >= timings.fetchDelay } ?? false
        return isServing(at: now) && isMember && !removing.contains(member) && !isBehind
    }

    /// The owner of a client or subscription, according to the log as far as this member has applied it.
    package func holder(of id: String) -> ResourceHolder {
        guard let ledger, let owner = ledger.owner(of: id) else { return .unknown }
        guard let owner else { return .none }
        if owner == member { return .own }
        return ledger.members[owner].map { .process($0.info.process) } ?? .none
    }

    /// Whether an epoch is an earlier one of this member: its state is newer than all events of that epoch.
    package func isPast(_ epoch: UInt64) -> Bool {
        guard let ledger else { return false }
        if ledger.earlierEpochs.contains(epoch) { return true }
        guard let place = pastEpochs.firstIndex(of: epoch) else { return false }
        return place < pastEpochs.firstIndex(of: ledger.epoch) ?? 0
    }

    /// The state of a ticket. A ticket of an epoch that this member has not read yet counts as unused: the log decides about its use.
    package func state(of ticket: TicketUse) -> TicketState {
        if let ledger, ledger.epoch == ticket.epoch { return ledger.ticketUses.state(of: ticket) }
        return isPast(ticket.epoch) ? .void : .unused
    }

    /// The position of the record with which a request began if its key has expired, else 0.
    package func expiredPosition(of key: RecordKey) -> UInt64 {
        guard let position = ledger?.requests.position(of: key), position <= ages.expired else { return 0 }
        return position
    }

    /// Stores the epoch that the member enters.
    mutating func noteEpoch(_ epoch: UInt64) {
        if !pastEpochs.contains(epoch) { pastEpochs = (pastEpochs + [epoch]).suffix(ClusterLedger.remembered) }
    }

    /// Whether the ledger has the resources of the members: after the beginning of an epoch they report them again.
    package func isComplete(at now: Moment) -> Bool {
        isFollowing && (epochSeenAt.map { now - $0 >= timings.reporting } ?? true)
    }

    /// Whether this member belongs to the cluster and misses no frame: until an input arrives, only deadlines change that.
    package var isSettled: Bool { isFollowing && isMember && behindSince == nil }

    var isFollowing: Bool { phase == .following && ledger != nil }

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
        nextHeartbeat = now
        isFetching = false
        inspections = 0
        return [inspectLog()]
    }

    /// Orders to inspect the log. Only the result of the last order is used.
    mutating func inspectLog() -> MemberAction {
        inspections += 1
        inspectedFrom = reader.position
        return .inspectLog
    }

    /// The connection is closed.
    package mutating func disconnected() {
        phase = .offline
        replay = nil
        monitor.disconnected()
        isFetching = false
        behindSince = nil
    }

    /// The generation and extent of the log were read.
    package mutating func logInspected(_ generation: LogGeneration, at now: Moment) -> [MemberAction] {
        inspections = max(0, inspections - 1)
        guard phase != .offline, inspections == 0 else { return [] }
        firstKept = generation.first
        endAtConnection = generation.last
        isFetching = false
        let known = ledger?.epochPosition ?? replay?.snapshot.ledger.epochPosition
        if hasDiverged, let known, created == generation.created {
            return enter(from: generation.last, knowingFrom: known, beginning: true, at: now)
        }
        guard ledger != nil, created == generation.created else {
            created = generation.created
            return enter(from: generation.last, beginning: isLocal, at: now)
        }
        // Frames may have arrived since the order.
        if generation.last < inspectedFrom {
            // Readers may have events that the log has lost, so no stream can be resumed, here or on other members.
            return enter(from: generation.last, beginning: true, at: now)
        }
        // The state of a member that has applied a lost frame replaces it.
        let isLost = missingSince.map { now - $0 >= timings.lost && generation.last > reader.position } ?? false
        if isLost || generation.first > reader.position + 1 { return enter(from: generation.last, at: now) }
        phase = .following
        reader.reaches(generation.last)
        var actions = drain(at: now)
        if inFlight != nil, phase == .following { actions += resend(at: now) }
        return actions + fetchIfBehind(at: now, always: missingSince == nil)
    }

    /// Starts without state: requests the state of the members, or begins an epoch at once.
    ///
    /// - Parameter base: The position from which all beginnings of epochs are known; nil: from `position`.
    mutating func enter(
        from position: UInt64,
        knowingFrom base: UInt64? = nil,
        beginning: Bool = false,
        at now: Moment
    ) -> [MemberAction] {
        leaveLog()
        hasDiverged = false
        missingSince = nil
        otherEpochSince = nil
        reader = LogReader(position: position)
        // This member may have been removed meanwhile.
        let actions = resetMembership(isLogRead: false) + [.forfeitCredits]
        phase = .loading(Loading(since: now, nextRequest: now, base: min(base ?? position, position)))
        return actions + (beginning ? beginEpoch(at: now) : requestState(at: now))
    }

    /// Whether a state is older than that of this member was: a reply to an earlier request, for instance.
    func isOutdated(_ ledger: ClusterLedger) -> Bool {
        guard let former else { return false }
        return ledger.epoch == former.epoch && ledger.position < former.position
    }

    /// Drops the state of the cluster. What this member owned in the cluster is stored; the log of this process alone has
    /// nothing that other members could inherit.
    private mutating func leaveLog() {
        if let ledger, !isLocal {
            let owned = ledger.specified.filter { $0.value.owner == member }
            former = (ledger.epoch, reader.position)
            formerResources = FormerResources(epoch: ledger.epoch, areStreams: owned.mapValues { $0.isOpen != nil })
        }
        ledger = nil
        replay = nil
    }

    /// Stops being a member. The member joins again under another number.
    ///
    /// - Parameter isLogRead: Whether the log was read up to the end of the membership. The frame in flight is void then.
    mutating func resetMembership(isLogRead: Bool = true) -> [MemberAction] {
        member = randomNumber()
        counter = 0
        isMember = false
        inFlight = nil
        control = []
        carried = []
        unwantedSince = [:]
        retiring = []
        removing = []
        for id in holds.keys { holds[id]?.stage = .unknown }
        return [.closeOutbox(uncertain: isLogRead ? 0 : recordsTaken), .dropAll]
    }
}
