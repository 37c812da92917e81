internal import Changes
internal import EventHub
internal import Gateway
internal import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool

/// This process as a member of a cluster: performs what `MemberMachine` decides.
///
/// The reports of this member's pool are appended to the log of the engine. The changes in the log, from this and all other
/// members, are applied to the hub. One task handles all inputs, so that the hub applies changes in the order of the log.
final class ClusterNode: Sendable {
    struct State: Sendable {
        var machine: MemberMachine
        /// The connection to the log; nil while there is none.
        var link: EngineLink?
        /// When contact to the log was lost; nil while there is contact.
        var detachedSince: Moment?
        /// The time that was spent on states for joining members.
        var statePace = StatePace()
    }

    /// The state that requests, the engine and the member's task share. No other lock is taken inside this one.
    struct Shared: Sendable {
        /// Has the sessions with the upstreams; nil before `run`.
        var pool: SessionPool?
        /// Handles the requests that other members forward; nil after this node has stopped.
        var host: HTTPHost?
        var inputs: [Input] = []
        /// The calls of other members that are being performed, by their numbers.
        var calls: [UInt64: PerformedCall] = [:]
        var credits = CreditRequests<CreditRequest>()
        /// The resources that this member is recreating: their state, options or sources may be missing.
        var recreated: Set<String> = []
        var endQuestions = EndQuestions()
        var failures = EngineFailures()
        /// Why a shared subscription could not be opened.
        var unopened = LoggedReason()
        var counters = ClusterCounters()
        /// The rates of requests that are limited on all members together.
        var rates = SharedRates()
        /// When a heartbeat carried the rates last.
        var ratesReportedAt = Moment.zero
        /// The uses of the tickets that belong to this member.
        var tickets = AcceptedUses()
    }

    enum Input: Sendable {
        case tick
        case connected(EngineLink)
        case engine(EngineInput, Int)
        case logInspected(Result<LogGeneration, any Error>, Int)
        case fetched(Result<[StoredFrame], any Error>, Int)
        case state([UInt8])
        /// There may be credits for a shared subscription that this member owns in a term.
        case reopen(String, term: UInt64, ended: @Sendable () -> Void)
        case left
    }

    /// The maximum number of waiting inputs. Frames beyond it are dropped, and fetched later.
    private static let inputLimit = 16_384
    /// The time between two checks of the deadlines, while they may be near and while they are not.
    private static let (tick, idleTick) = (Duration.milliseconds(25), Duration.milliseconds(250))

    let hub: EventHub
    let logger: Logger
    let configuration: ClusterConfiguration
    /// The number of this process, under which other members call it.
    let process: UInt64
    let engine: any ClusterEngine
    /// Has the log of this process alone, while the engine is away.
    let localEngine: any ClusterEngine
    let clock: @Sendable () -> Moment
    let state: RankedMutex<State>
    /// Taken inside `state`.
    let reports: RankedMutex<MemberReports>
    let shared = RankedMutex(Shared(), rank: .clusterShared)
    /// The cipher of specifications and of stored responses.
    let cipher: ClusterCipher
    /// The cipher that makes the digests of idempotency keys and of bodies.
    let requestCipher: ClusterCipher
    /// The cipher of the upstream sessions that other members can continue.
    let sessionCipher: ClusterCipher
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let jobs = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
    let clientChanges = ClientChanges()
    let hasLeft = StopSignal()

    init(
        configuration: ClusterConfiguration,
        engine: any ClusterEngine,
        localEngine: any ClusterEngine = LocalEngine(),
        machine: MemberMachine,
        hub: EventHub,
        logger: Logger,
        clock: @escaping @Sendable () -> Moment
    ) {
        self.configuration = configuration
        let secret = configuration.secret ?? ""
        process = machine.process
        self.engine = SealedEngine(engine, secret: secret, process: process, logger: logger)
        self.localEngine = localEngine
        self.hub = hub
        self.logger = logger
        self.clock = clock
        cipher = ClusterCipher(secret: secret, purpose: "calls")
        requestCipher = ClusterCipher(secret: secret, purpose: "requests")
        sessionCipher = ClusterCipher(secret: secret, purpose: "sessions")
        state = RankedMutex(State(machine: machine), rank: .clusterState)
        reports = RankedMutex(MemberReports(limit: configuration.outboxBytes), rank: .clusterReports)
    }

    // MARK: - Running

    func run() async {
        // A task group that does not discard results would keep every ended task.
        await withDiscardingTaskGroup { group in
            group.addTask { await self.stayConnected() }
            group.addTask {
                while !Task.isCancelled {
                    let isQuiet = self.state.withLock { $0.machine.isQuiet(at: self.clock()) }
                    try? await Task.sleep(for: isQuiet ? Self.idleTick : Self.tick)
                    self.offer(.tick)
                }
            }
            group.addTask {
                var (applier, carried) = (ClusterApplier(hub: self.hub), CarriedSubscriptions(of: self))
                for await _ in self.wakeUps.stream { self.step(&applier, &carried) }
                for action in self.reports.withLock({ $0.end() }) { action() }
            }
            for await job in jobs.stream { group.addTask { await job() } }
        }
        // The host refers to this node; without this step, the reference cycle would keep both in memory.
        _ = shared.withLock { $0.host.take() }
    }

    func wake() { wakeUps.continuation.yield() }

    /// Runs a job beside the node's task, until it is done or the node is cancelled.
    func addJob(_ job: @escaping @Sendable () async -> Void) { jobs.continuation.yield(job) }

    func offer(_ input: Input) {
        shared.withLock { shared in
            if shared.inputs.count >= Self.inputLimit, case .engine(.frame, _) = input { return }
            shared.inputs.append(input)
        }
        wake()
    }

    private func step(_ applier: inout ClusterApplier, _ carried: inout CarriedSubscriptions) {
        let inputs = shared.withLock { shared in
            let taken = shared.inputs
            shared.inputs = []
            return taken
        }
        let now = clock()
        for input in inputs { perform(handle(input, applier, &carried, at: now), &applier, &carried) }
        if !state.withLock({ $0.machine.isSettled }) { perform(timePassed(at: now), &applier, &carried) }
        if !applier.unreported.isEmpty {
            // Inside the lock: `addReader` adds a topic again if it comes later.
            state.withLock { state in
                if let kept = state.machine.readTopics(ifCompleteAt: now) { applier.removeUnreported(except: kept) }
            }
        }
        settleWaiters(at: now)
        let (frame, connection) = state.withLock { state in
            let frame = reports.withLock { state.machine.nextFrame(from: &$0.outbox, at: now) }
            return (frame, state.link?.connection)
        }
        if let frame { connection?.append(frame, again: false) }
    }

    // MARK: - Inputs

    private func timePassed(at now: Moment) -> [MemberAction] { state.withLock { $0.machine.timePassed(at: now) } }

    private func handle(
        _ input: Input,
        _ applier: ClusterApplier,
        _ carried: inout CarriedSubscriptions,
        at now: Moment
    ) -> [MemberAction] {
        switch input {
        case .tick:
            serveAloneIfDetached(at: now)
            releaseIdleCredits(at: now)
            return timePassed(at: now)
        case .connected(let link): return connected(link, at: now)
        // Also before the connection is used.
        case .engine(.refused(let reason), let number): report(reason, refusedOn: number)
        case .engine(.notStored(let reason), _): report(notStored: reason, at: now)
        case .engine(let input, let number):
            guard state.withLock({ $0.link?.number == number }) else { return [] }
            return handle(input, applier, at: now)
        case .logInspected(.success(let generation), let number):
            return received(over: number) { $0.logInspected(generation, at: now) }
        case .logInspected(.failure(let error), let number):
            return received(over: number) { $0.inspectionFailed(isMissing: error as? EngineError == .missing) }
        case .fetched(.success(let frames), let number): return received(over: number) { $0.fetched(frames, at: now) }
        case .fetched(.failure(let error), let number):
            return received(over: number) { $0.fetchFailed(isMissing: error as? EngineError == .missing, at: now) }
        case .state(let bytes):
            // The replies of several members, and to several requests, may be large.
            guard state.withLock({ $0.machine.awaitsState }), let snapshot = try? ClusterSnapshot(bytes)
            else { return [] }
            return state.withLock { $0.machine.stateArrived(snapshot, at: now) }
        case .reopen(let id, let term, let ended):
            if owns(id, term) { carried.reactivate(id) }
            ended()
        case .left: return state.withLock { $0.machine.leave() }
        }
        return []
    }

    /// The actions for the result of a request over a connection; none if the connection is not the present one.
    private func received(over number: Int, _ decision: (inout MemberMachine) -> [MemberAction]) -> [MemberAction] {
        state.withLock { $0.link?.number == number ? decision(&$0.machine) : [] }
    }

    private func handle(_ input: EngineInput, _ applier: ClusterApplier, at now: Moment) -> [MemberAction] {
        switch input {
        case .frame(let frame): return state.withLock { $0.machine.arrived(frame, at: now) }
        case .broadcast(let bytes):
            guard let heartbeat = Heartbeat(bytes), state.withLock({ $0.machine.isNew(heartbeat) }) else { return [] }
            count(heartbeat.rates, of: heartbeat.process, at: now)
            return state.withLock { $0.machine.heard(heartbeat, at: now) }
        case .groupRequest(let bytes, let reply): sendState(asRequested: bytes, applier, reply, at: now)
        case .call(let bytes, let reply): answer(bytes, reply)
        case .closed: disconnected()
        case .refused, .notStored: break
        }
        return []
    }

    // MARK: - Actions

    private func perform(
        _ actions: [MemberAction],
        _ applier: inout ClusterApplier,
        _ carried: inout CarriedSubscriptions
    ) {
        for action in actions {
            switch action {
            case .append(let frame): state.withLock { $0.link }?.connection.append(frame, again: true)
            case .fetch(let range): ask({ try await $0.fetch(range) }, Input.fetched)
            case .reconnect(let isLogMissing):
                logger.warning("the cluster's engine \(isLogMissing ? "has no log" : "does not respond")")
                disconnected()
            case .inspectLog: ask({ try await $0.inspectLog() }, Input.logInspected)
            case .broadcast(let heartbeat): state.withLock { $0.link }?.connection.broadcast(reporting(heartbeat).bytes)
            case .requestState(let formats): requestState(in: formats)
            case .apply(let changes, let position): applier.apply(changes, at: position)
            case .beginWindows(let ledger, let lastEvents): applier.beginWindows(from: ledger, lastEvents)
            case .extendWindows(let changes, let position): applier.extendWindows(changes, at: position, now: clock())
            case .restart(let epoch, let position, let kept, let snapshot, let withWindows):
                let first = withWindows ? snapshot?.earlier?.ledger.position : nil
                report(epochAt: position, windowsAfter: first ?? position)
                applier.restart(epoch, position, kept, snapshot, withWindows: withWindows, isDegraded: isAlone)
            case .inherit(let id, let specification): inherit(id, specification)
            case .releaseResource(let id): releaseResource(id)
            case .openOutbox: reportAll()
            case .closeOutbox(let uncertain): stopReporting(uncertain: uncertain)
            case .written(let records): written(records)
            case .credit(let upstream, let given): credit(upstream, given)
            case .releaseUnusedCredits(let upstream, let claim): releaseUnusedCredits(upstream, claim: claim)
            case .keepUsedCredits: keepUsedCredits()
            case .report(let subject, let outcome): decided(subject, outcome)
            case .inheritStream(let id, let specification): streams?.inherit(id, specification)
            case .releaseStream(let id): streams?.release(id)
            case .closeTicketStream(let key): closeTicketStream(key)
            case .closeTickets(let gone): closeTickets(of: gone)
            case .carry(let id, let key, let term): carried.carry(id, key, term: term)
            case .reactivate(let id): carried.reactivate(id)
            case .reopened(let id): hub.take([.subscription(SubscriptionID(id), .activity(isActive: true))])
            case .adopt(let session): carried.adopt(session)
            case .drop(let id): carried.drop(id)
            case .forget(let id): forget(id, &applier)
            case .dropAll: carried.dropAll()
            case .reportOtherConfiguration(let info): report(info)
            case .reportRefusal(let own, let members): report(own, refusedBy: members)
            case .reportOtherFormats(let formats): report(formats)
            case .reportDivergence(let divergence): report(divergence)
            case .left: hasLeft.set()
            }
        }
    }

    // MARK: - Membership

    /// This member has joined: it reports all that it has.
    func reportAll() {
        // Another member may have performed the request of an uncertain creation since this member was removed.
        let uncertain = reports.withLock { $0.takeUncertainCreations() }
        for id in uncertain where holder(of: id) == .unknown { resources?.discard(id) }
        reports.withLock { $0.outbox.open() }
        pool?.reportAgain()
        reports.withLock { $0.outbox.specifyAgain() }
        streams?.declareAgain()
        declareTickets()
        changeClaims { $0.declarations() }
        declareCredits()
        reports.withLock { $0.outbox.endReport() }
    }

    func stopReporting(uncertain: UInt64) {
        let (due, isOverflow) = reports.withLock { reports in
            let isOverflow = reports.outbox.isOpen && reports.outbox.hasOverflowed
            reports.outbox.close()
            let records = reports.outbox.recordsAppended
            return (reports.discarded(records, uncertain: uncertain) + reports.removeUndecided(), isOverflow)
        }
        if isOverflow {
            logger.warning(
                "more than cluster.outbox waited for the cluster's engine: this member leaves, and joins again"
            )
        }
        for action in due { action() }
    }
}
