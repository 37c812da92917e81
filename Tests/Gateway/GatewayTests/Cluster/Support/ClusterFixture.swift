import EventHub
internal import GatewayStreaming
import Logging
import MicroHTTPD
import Primitives
import Replication
import SessionCore
import SessionPool
import StreamIO
import Synchronization
import TestSupport
import Testing

@testable import Gateway
@testable import GatewayCluster

/// Gateways without sockets that are members of a cluster over an engine in memory. Time passes only when a test lets it
/// pass, so no deadline ends and no member is removed for its silence.
struct ClusterFixture {
    /// The secret of all members.
    static let secret = "0123456789abcdef"

    let engine = MemoryEngine()
    let time = ManualTime()
    let logger: Logger
    private(set) var members: [ClusterMember] = []

    /// Runs a test with members that belong to the cluster.
    ///
    /// - Parameters:
    ///   - access: Authentication; nil: none.
    ///   - maxResources: The greatest number of dedicated clients, and of subscriptions; nil: the defaults.
    ///   - limits: The limits of each upstream; nil: the defaults.
    ///   - suspect: The time without heartbeats after which a member is removed, for tests that let time pass.
    ///   - reporting: How long after the beginning of an epoch members may report their resources again.
    ///   - onEngineLoss: What a member does as soon as the engine is away.
    ///   - logger: The log of all members.
    static func run(
        _ count: Int = 2,
        access: AccessConfiguration = AccessFixture.keys(),
        maxResources: Int? = nil,
        limits: UpstreamCredits? = nil,
        suspect: Duration = .zero,
        reporting: Duration = .zero,
        onEngineLoss: ClusterConfiguration.EngineLoss = .hold,
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ test: (ClusterFixture) async throws -> Void
    ) async throws {
        var fixture = ClusterFixture(logger: logger)
        var configuration = GatewayConfiguration()
        configuration.access = access
        configuration.cluster.onEngineLoss = onEngineLoss
        configuration.cluster.patience = .zero
        configuration.pool.upstreams = AccessFixture.upstreams.map { upstream in
            var upstream = upstream
            guard let limits else { return upstream }
            upstream.maxSessions = limits.sessions
            upstream.maxSubscriptions = limits.subscriptions
            upstream.maxItems = limits.items
            return upstream
        }
        // What is closed counts no longer.
        if limits != nil { configuration.pool.subscriptionLinger = .zero }
        if let maxResources {
            configuration.pool.maxDedicatedClients = maxResources
            // One caller may use all of it.
            configuration.pool.maxDedicatedClientsPerCaller = maxResources
            configuration.pool.maxSubscriptionResources = maxResources
        }
        for index in 0..<count {
            fixture.members.append(try await fixture.makeMember(index, configuration, suspect, reporting))
        }
        let (engine, members) = (fixture.engine, fixture.members)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for member in members {
                group.addTask { await member.node.run() }
                await member.join(engine)
            }
            for member in members { await member.catchUp() }
            try await test(fixture)
            group.cancelAll()
        }
    }

    /// Waits until all members have applied what all of them have written.
    func settle() async {
        for member in members { #expect(await member.confirm()) }
        for member in members { await member.catchUp() }
    }

    /// Lets the time between two heartbeats pass, and waits until all members have handled each other's heartbeat.
    func exchangeHeartbeats() async {
        let sent = engine.figures.heartbeats
        time.pass(ClusterTimings().heartbeat / .seconds(1))
        await engine.wait { [members] in $0.heartbeats >= sent + members.count }
        for member in members { await member.catchUp() }
    }

    /// The same after a time without messages, for which the members open other connections: until all members serve again.
    func serveAgain() async {
        await exchangeHeartbeats()
        for member in members {
            while !member.node.servesResources || member.node.generation == nil { await Task.yield() }
        }
    }

    /// Runs a test with one more member, which joins now, or begins to join.
    func withAnother(hasJoined: Bool = true, _ test: (ClusterMember) async throws -> Void) async throws {
        var configuration = GatewayConfiguration()
        configuration.access = AccessFixture.keys()
        let member = try await makeMember(members.count, configuration, .zero, .zero)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await member.node.run() }
            if hasJoined {
                await member.join(engine)
                await member.catchUp()
            }
            try await test(member)
            group.cancelAll()
        }
    }

    private func makeMember(
        _ index: Int,
        _ configuration: GatewayConfiguration,
        _ suspect: Duration,
        _ reporting: Duration
    ) async throws -> ClusterMember {
        var timings = ClusterTimings()
        timings.echoTimeout = .seconds(1_000_000)
        // While no time passes, no member is suspected.
        timings.suspect = suspect
        timings.reporting = reporting
        timings.requestInterval = .zero
        // The first member finds no other one; the others ask until they have the state.
        timings.requestCount = index == 0 ? 1 : .max
        timings.loading = .zero
        return try await ClusterMember(index, engine, time, timings, configuration, logger)
    }
}

/// One gateway of a `ClusterFixture`.
struct ClusterMember {
    let services: Services
    let host: HTTPHost
    let node: ClusterNode
    /// The log of the member alone, while the engine is away.
    let alone = MemoryEngine(name: "alone")

    init(
        _ index: Int,
        _ engine: MemoryEngine,
        _ time: ManualTime,
        _ timings: ClusterTimings,
        _ common: GatewayConfiguration,
        _ logger: Logger
    ) async throws {
        var configuration = common
        configuration.cluster.secret = ClusterFixture.secret
        let clock: @Sendable () -> Moment = { time.moment }
        let hub = EventHub(epoch: "e", numbering: .given, clock: clock)
        let info = MemberInfo(name: "\(index)", version: "1", upstreams: configuration.pool.upstreams.map(\.name))
        let machine = MemberMachine(info: info, seed: UInt64(index) << 32, groups: 2, timings: timings)
        node = ClusterNode(
            configuration: configuration.cluster,
            engine: MemoryProcess(engine: engine, process: machine.process),
            localEngine: MemoryProcess(engine: alone, process: machine.process),
            machine: machine,
            hub: hub,
            logger: logger,
            clock: clock
        )
        let control = AccessControl(
            configuration.access,
            tickets: node.tickets,
            clock: clock,
            wallTime: { time.wall }
        )
        _ = try control.load(configuration.access)
        let pool = SessionPool(
            configuration: configuration.pool,
            sink: node,
            removed: { control.owners.forget($0) },
            logger: logger,
            clock: clock
        )
        node.attach(pool)
        services = Services(
            current: LiveConfiguration(configuration),
            access: control,
            pool: pool,
            streams: StreamRegistry(hub: hub),
            streamResources: StreamResources { [weak node] in node?.made(.streamRemoved($0)) },
            timers: TimerQueue(clock: clock),
            process: ProcessState(startedAt: .zero),
            metrics: { "" },
            clock: clock,
            coordination: node
        )
        host = HTTPHost(services: services, middlewares: HTTPHost.guards(services), logger: logger)
    }

    /// The number of the member in the log.
    var number: UInt64? { node.clusterFigures.member.member }

    /// Handles a request without waiting for its response.
    func start(
        _ method: String,
        _ target: String,
        as key: String? = AccessFixture.admin,
        _ body: String = "",
        _ headers: [HTTPField] = []
    ) -> PendingOutcome {
        let request = HTTPRequest(method, target, as: key, headers, body)
        let pending = PendingOutcome()
        pending.set(host.handle(request, pending.responder))
        return pending
    }

    /// Waits until the member serves its own readers alone.
    func isAlone() async {
        // The beginning of an epoch, and the member's own `join`.
        await alone.wait { $0.frames > 1 }
        await catchUp()
    }

    /// Waits until the member belongs to the cluster again, after it was cut off from the engine.
    func returns(to engine: MemoryEngine) async {
        await engine.wait { [process = node.process] in $0.processes.contains(process) }
        while true {
            let (frames, heartbeats) = (engine.figures.frames, engine.figures.heartbeats)
            await catchUp()
            if node.servesResources, node.generation != nil { return }
            await engine.wait { $0.frames > frames || $0.heartbeats > heartbeats }
        }
    }

    /// Performs a request. A stream that it opens stays open until the test ends it.
    func perform(
        _ method: String,
        _ target: String,
        as key: String? = AccessFixture.admin,
        _ body: String = "",
        _ headers: [HTTPField] = []
    ) async -> Fixture.Outcome {
        await start(method, target, as: key, body, headers).outcome
    }

    /// What a stream writes from now on, without the conditions of a cluster for its opening.
    func text(of stream: AdmittedStream) -> String {
        let shard = node.hub.makeShard(seed: 0) {}
        return withExtendedLifetime(shard) {
            let id = StreamID(slot: 0, generation: 0)
            let content = shard.open(StreamOpening(stream: stream.id, id: id, framing: .bare, now: .zero))
            defer { content.ended(.finished) }
            var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 64)
            _ = content.fill(&batch, now: .zero)
            return String(decoding: batch.pieces.flatMap { Array($0.bytes) }, as: UTF8.self)
        }
    }

    /// Creates an inactive subscription and returns its id.
    func makeSubscription(as key: String? = AccessFixture.admin, items: String = #"["item1"]"#) async -> String {
        let body = #"{"upstream":"demo","mode":"MERGE","items":\#(items),"fields":["f"],"active":false}"#
        return await perform("POST", "/v1/subscriptions", as: key, body).json["id"]?.string ?? ""
    }

    /// Waits until the member belongs to the cluster, under another number than a former one.
    func join(_ engine: MemoryEngine, after former: UInt64? = nil) async {
        while true {
            let frames = engine.figures.frames
            await catchUp()
            if let number, number != former {
                // The member writes a step later.
                while node.generation == nil { await Task.yield() }
                return
            }
            await engine.wait { $0.frames > frames }
        }
    }

    /// Waits until the member has applied the log, and has handled all messages that were sent to it.
    func catchUp() async {
        // The first wait may end with a step of the node that began before the messages were sent.
        for _ in 0..<2 { _ = await node.appliesEnd() }
    }

    /// Waits until the log has all records of the member; false if they were discarded.
    func confirm() async -> Bool {
        let generation = node.generation ?? 0
        return await withCheckedContinuation { continuation in
            node.confirm(generation) { continuation.resume(returning: $0 == .written) }
        }
    }
}

/// The outcome of a request that may wait.
final class PendingOutcome: Sendable {
    private struct State {
        var outcome: Fixture.Outcome?
        var stream: AdmittedStream?
        var waiting: CheckedContinuation<Fixture.Outcome, Never>?
        weak var responder: HTTPResponder?
    }

    private let state = Mutex(State())

    /// The responder of the request; used once.
    var responder: HTTPResponder {
        let responder = HTTPResponder { [self] answer in
            switch answer {
            case .response(let response): set(.respond(response))
            case .stream(let headers, let stream): set(.stream(headers, stream))
            }
        }
        state.withLock { $0.responder = responder }
        return responder
    }

    /// The client leaves before the response.
    func abandon() { state.withLock { $0.responder }?.abandon() }

    /// The stream that the request opened; nil before its outcome, and for a response.
    var stream: AdmittedStream? { state.withLock { $0.stream } }

    /// The outcome, once there is one.
    var outcome: Fixture.Outcome {
        get async {
            await withCheckedContinuation { continuation in
                let outcome: Fixture.Outcome? = state.withLock { state in
                    if state.outcome == nil { state.waiting = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        }
    }

    func set(_ decision: HTTPDecision) {
        let (outcome, stream): (Fixture.Outcome, AdmittedStream?)
        switch decision {
        case .wait: return
        case .respond(let response): (outcome, stream) = (Fixture.outcome(response), nil)
        case .stream(let headers, let admitted):
            outcome = Fixture.Outcome(status: 200, headers: headers, isStream: true)
            stream = admitted
        }
        let waiting = state.withLock { state in
            (state.outcome, state.stream) = (outcome, stream)
            return state.waiting.take()
        }
        waiting?.resume(returning: outcome)
    }
}
