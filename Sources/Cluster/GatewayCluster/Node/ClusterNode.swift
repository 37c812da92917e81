internal import Changes
internal import EventHub
internal import Gateway
internal import Logging
internal import Primitives
internal import Replication
internal import SessionCore
internal import SessionPool
internal import Synchronization

/// This process as a member of a cluster: performs what `MemberMachine` decides.
///
/// The reports of this member's pool are appended to the log of the engine. The changes in the log, from this and all
/// other members, are applied to the hub. One task handles all inputs, so that the hub applies changes in the order of
/// the log.
final class ClusterNode: Sendable {
    struct State: ~Copyable, Sendable {
        var machine: MemberMachine
        var connection: (any EngineConnection)?
        /// The number of the connection; inputs of earlier connections are ignored.
        var number = 0
        /// Set when the connection is of no more use.
        var isOver: StopSignal?
        /// When contact to the log was lost; nil while there is contact.
        var detachedSince: Moment?
    }

    /// What this member reports to the log, and what waits for that.
    struct Reports: Sendable {
        var outbox: Outbox
        var waiters = ClusterWaiters()
        /// The units of this member that count against limits on all members together.
        var claims = QuotaClaims()
    }

    /// What requests, streams and the engine leave for each other. No other lock is taken inside this one.
    struct Shared: Sendable {
        /// Handles the requests that other members forward; nil after this node has stopped.
        var host: HTTPHost?
        var inputs: [Input] = []
        /// The conditions of the streams that are not open yet.
        var gates: [String: StreamGate] = [:]
        /// The calls of other members that are being performed, by their numbers.
        var served: [UInt64: CallAbandonment] = [:]
        /// What waits for credits of the upstreams.
        var credits = CreditRequests<CreditRequest>()
        /// The outcomes of calls and adoptions.
        var counters = ClusterCounters()
        /// The rates of requests that are limited on all members together.
        var rates = SharedRates()
        /// The streams of this member that tickets have opened, by the tickets.
        var ticketStreams: [RecordKey: String] = [:]
    }

    enum Input: Sendable {
        case tick
        case connected(any EngineConnection, Int, isOver: StopSignal)
        case engine(EngineInput, Int)
        case logInspected(LogGeneration, Int)
        case fetched(Result<[StoredFrame], any Error>, Int)
        case state([UInt8])
        case left
    }

    /// The maximum number of waiting inputs. Frames beyond it are dropped, and fetched later.
    private static let inputLimit = 16_384
    /// The time between two checks of the deadlines, while this member waits for the engine and while it does not.
    private static let (tick, idleTick) = (Duration.milliseconds(25), Duration.milliseconds(100))

    let hub: EventHub
    let logger: Logger
    let configuration: ClusterConfiguration
    let engine: any ClusterEngine
    /// Has the log of this process alone, while the engine is away.
    let localEngine: any ClusterEngine
    let clock: @Sendable () -> Moment
    let ids: SharedTopicIDs
    let state: Mutex<State>
    let applier: Mutex<ClusterApplier>
    /// Taken inside `state` and `applier`.
    let reports: Mutex<Reports>
    let shared = Mutex(Shared())
    /// The cipher of specifications and of stored responses.
    let cipher: ClusterCipher
    /// The cipher that makes the digests of idempotency keys and of bodies.
    let requestCipher: ClusterCipher
    /// The cipher of the upstream sessions that other members can continue.
    let sessionCipher: ClusterCipher
    private let wakeUps = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    private let jobs = AsyncStream.makeStream(of: (@Sendable () async -> Void).self)
    private let changes = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
    let hasLeft = StopSignal()

    init(
        configuration: ClusterConfiguration,
        engine: any ClusterEngine,
        localEngine: any ClusterEngine = LocalEngine(),
        machine: consuming sending MemberMachine,
        hub: EventHub,
        logger: Logger,
        clock: @escaping @Sendable () -> Moment
    ) {
        self.configuration = configuration
        let secret = configuration.secret ?? ""
        self.engine = SealedEngine(engine, secret: secret, process: machine.process, logger: logger)
        self.localEngine = localEngine
        self.hub = hub
        self.logger = logger
        self.clock = clock
        ids = SharedTopicIDs(secret: configuration.secret ?? "")
        cipher = ClusterCipher(secret: configuration.secret ?? "", purpose: "calls")
        requestCipher = ClusterCipher(secret: configuration.secret ?? "", purpose: "requests")
        sessionCipher = ClusterCipher(secret: configuration.secret ?? "", purpose: "sessions")
        state = Mutex(State(machine: machine))
        reports = Mutex(Reports(outbox: Outbox(limit: configuration.outboxBytes)))
        applier = Mutex(ClusterApplier(hub: hub))
    }

    /// Sets the pool of this process; called once, before `run`.
    func attach(_ pool: SessionPool) {
        // The readers of a subscription may be on other members, which are not asked.
        pool.readers { _ in true }
        pool.requireCredits()
        applier.withLock { $0.pool = pool }
    }

    /// Sets the host of this process; called once, before `run`.
    func attach(_ host: HTTPHost) {
        shared.withLock { $0.host = host }
        host.services.access.owners.usage.observe { [weak self] in
            self?.made(.subscriptionUsed($0, identity: $1, items: $2))
        }
        host.services.access.owners.observeRemovals { [weak self] in self?.made(.resourceRemoved($0)) }
    }

    /// The host of this process; nil after this node has stopped.
    var host: HTTPHost? { shared.withLock { $0.host } }

    /// The resources of this process that other members may take over.
    var resources: ClusterResources? { host.map { ClusterResources(cluster: self, services: $0.services) } }

    /// The prepared streams of this member.
    var streams: ClusterStreams? { host.map { ClusterStreams(cluster: self, services: $0.services) } }

    // MARK: - Running

    /// Runs the member until cancelled.
    func run() async {
        // A task group that does not discard results would keep every ended task.
        await withDiscardingTaskGroup { group in
            group.addTask { await self.stayConnected() }
            group.addTask {
                while !Task.isCancelled {
                    let isSettled = self.state.withLock { $0.machine.isSettled }
                    try? await Task.sleep(for: isSettled ? Self.idleTick : Self.tick)
                    self.offer(.tick)
                }
            }
            group.addTask {
                for await _ in self.wakeUps.stream { self.step() }
                self.endWaiting()
            }
            group.addTask { for await change in self.changes.stream { change() } }
            for await job in jobs.stream { group.addTask { await job() } }
        }
        // The host refers to this node; without this step, the reference cycle would keep both in memory.
        _ = shared.withLock { $0.host.take() }
    }

    /// Leaves the cluster, so that other members take over what this member owns; returns when this member has left, or
    /// after `time`.
    func leave(within time: Duration) async {
        offer(.left)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.hasLeft.wait() }
            group.addTask { try? await Task.sleep(for: time) }
            await group.next()
            group.cancelAll()
        }
    }

    private func stayConnected() async {
        var number = 0
        var lastFailure: String?
        var warnings: [String] = []
        while !Task.isCancelled {
            number += 1
            let (current, isOver) = (number, StopSignal())
            do {
                let connection = try await engine.connect { [weak self] input in
                    if case .closed = input { isOver.set() }
                    self?.offer(.engine(input, current))
                }
                lastFailure = nil
                try await check(connection)
                logger.info("connected to the cluster's engine")
                offer(.connected(connection, current, isOver: isOver))
                let present = await connection.warnings()
                for warning in present where !warnings.contains(warning) { logger.warning("\(warning)") }
                warnings = present
                await isOver.wait()
                connection.close()
                logger.warning("the connection to the cluster's engine is closed")
            } catch {
                // Repeated several times a second while the engine is away.
                let failure = "\(error)"
                logger.log(
                    level: failure == lastFailure ? .debug : .warning,
                    "cannot connect to the cluster's engine",
                    metadata: ["error": "\(failure)"]
                )
                lastFailure = failure
            }
            try? await Task.sleep(for: .milliseconds(Int.random(in: 100...500)))
        }
    }

    func wake() { wakeUps.continuation.yield() }

    /// Runs a job beside the node's task, until it is done or the node is cancelled.
    func addJob(_ job: @escaping @Sendable () async -> Void) { jobs.continuation.yield(job) }

    /// Runs a change of a client beside the node's task, after the changes before it.
    func addChange(_ change: @escaping @Sendable () -> Void) { changes.continuation.yield(change) }

    func offer(_ input: Input) {
        shared.withLock { shared in
            if shared.inputs.count >= Self.inputLimit, case .engine(.frame, _) = input { return }
            shared.inputs.append(input)
        }
        wake()
    }

    private func step() {
        let inputs = shared.withLock { shared in
            let taken = shared.inputs
            shared.inputs = []
            return taken
        }
        let now = clock()
        for input in inputs { perform(handle(input, at: now)) }
        if !state.withLock({ $0.machine.isSettled }) { perform(timePassed(at: now)) }
        settleWaiters(at: now)
        let (frame, connection) = state.withLock { state in
            let frame = reports.withLock { state.machine.nextFrame(from: &$0.outbox, at: now) }
            return (frame, state.connection)
        }
        if let frame { connection?.append(frame) }
    }

    // MARK: - Inputs

    private func timePassed(at now: Moment) -> [MemberAction] { state.withLock { $0.machine.timePassed(at: now) } }

    private func handle(_ input: Input, at now: Moment) -> [MemberAction] {
        switch input {
        case .tick:
            serveAloneIfDetached(at: now)
            releaseIdleCredits(at: now)
            return timePassed(at: now)
        case .connected(let connection, let number, let isOver):
            return connected(connection, number, isOver, at: now)
        case .engine(let input, let number):
            guard state.withLock({ $0.number == number }) else { return [] }
            return handle(input, at: now)
        case .logInspected(let generation, let number):
            return state.withLock { $0.number == number ? $0.machine.logInspected(generation, at: now) : [] }
        case .fetched(let result, let number):
            return state.withLock { state in
                guard state.number == number else { return [] }
                switch result {
                case .success(let frames): return state.machine.fetched(frames, at: now)
                case .failure(let error):
                    return state.machine.fetchFailed(isMissing: error as? EngineError == .missing, at: now)
                }
            }
        case .state(let bytes):
            guard let snapshot = try? ClusterSnapshot(bytes) else { return [] }
            return state.withLock { $0.machine.stateArrived(snapshot, at: now) }
        case .left:
            return state.withLock { $0.machine.leave() }
        }
    }

    private func handle(_ input: EngineInput, at now: Moment) -> [MemberAction] {
        switch input {
        case .frame(let frame):
            return state.withLock { $0.machine.arrived(frame, at: now) }
        case .broadcast(let bytes):
            guard let heartbeat = Heartbeat(bytes) else { return [] }
            count(heartbeat.rates, of: heartbeat.process, at: now)
            return state.withLock { $0.machine.heard(heartbeat, at: now) }
        case .groupRequest(let bytes, let address):
            guard let formats = Formats(bytes) else { return [] }
            let (answer, connection) = state.withLock { ($0.machine.state(for: formats, at: now), $0.connection) }
            guard let answer else { return [] }
            let tables = applier.withLock { $0.tables(of: answer.ledger) }
            let snapshot = ClusterSnapshot(
                created: answer.created,
                ledger: answer.ledger,
                tables: tables,
                earlier: answer.earlier,
                epochAge: answer.epochAge
            )
            connection?.reply(snapshot.bytes(in: answer.format), to: address)
        case .call(let bytes, let address): answer(bytes, replyTo: address)
        case .closed: disconnected()
        }
        return []
    }

    /// Ignores the present connection from now on. `stayConnected` closes it and opens another one.
    func disconnected() {
        state.withLock { state in
            state.isOver?.set()
            (state.connection, state.number, state.isOver) = (nil, 0, nil)
            state.machine.disconnected()
        }
        shared.withLock { $0.rates.disconnected() }
    }
}
