import EventHub
import GatewayStreaming
import LightstreamerClient
import Logging
import Primitives
import Replication
import SessionCore
import SessionPool
import StreamIO
import TLCPTransports

@testable import Gateway
@testable import GatewayCluster
@testable import MicroHTTPD

/// One process of a cluster: all of a gateway but its sockets. Requests are passed to its host; its streams are written to
/// pairs of sockets by the scheduler of a loop.
///
/// `@unchecked Sendable`: used by the thread of the simulation only.
final class SimulatedGateway: @unchecked Sendable {
    struct Parts {
        let services: Services
        let host: HTTPHost
        let node: ClusterNode
        let streams: SimulatedStreams
        var pool: SessionPool { services.pool }
    }

    /// The response to a request.
    enum Answer {
        case response(HTTPResponse)
        /// A stream, by the client's end of its connection.
        case stream(Int32)
        /// The connection broke.
        case none
    }

    let number: Int
    private(set) var parts: Parts?
    private(set) var isAlive = true
    private(set) var isPaused = false
    private let simulator: Simulator
    private var task: Task<Void, Never>?

    init(
        _ number: Int,
        _ simulator: Simulator,
        _ configuration: GatewayConfiguration,
        _ engine: SimulatedEngine,
        _ server: SimulatedServer
    ) {
        (self.number, self.simulator) = (number, simulator)
        let seed = simulator.generator.next()
        simulator.perform(as: number) {
            task = Task { await self.run(seed, configuration, engine, server) }
        }
    }

    private func run(
        _ seed: UInt64,
        _ configuration: GatewayConfiguration,
        _ engine: SimulatedEngine,
        _ server: SimulatedServer
    ) async {
        guard let parts = try? makeParts(seed, configuration, engine, server) else {
            preconditionFailure("a gateway cannot be made")
        }
        self.parts = parts
        let (pool, timers, node) = (parts.pool, parts.services.timers, parts.node)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await pool.run() }
            group.addTask { await timers.run() }
            group.addTask { await node.run() }
        }
        parts.streams.scheduler.endAll(.daemonClosed)
        // Node and pool refer to each other for as long as a process runs.
        node.shared.withLock { $0.pool = nil }
        self.parts = nil
    }

    private func makeParts(
        _ seed: UInt64,
        _ configuration: GatewayConfiguration,
        _ engine: SimulatedEngine,
        _ server: SimulatedServer
    ) throws -> Parts {
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        let clock: @Sendable () -> Moment = { [simulator] in simulator.now }
        let hub = EventHub(configuration: configuration.hubConfiguration(), epoch: "e", numbering: .given, clock: clock)
        let node = makeNode(seed, configuration, engine, hub, logger, clock)
        let access = AccessControl(
            configuration.access,
            tickets: node.tickets,
            clock: clock,
            wallTime: { [simulator] in 1_700_000_000 + Double(simulator.nanoseconds) / 1e9 }
        )
        _ = try access.load(configuration.access)
        var client = ClientConfiguration()
        client.eventLoops = EventLoops(SimulatedLoop(simulator, of: number))
        client.clock = SimulatedClock(simulator: simulator)
        client.connector = server.connector(for: number)
        let pool = SessionPool(
            configuration: configuration.poolConfiguration(),
            sink: node,
            removed: { access.owners.forget($0) },
            clientConfiguration: client,
            logger: logger,
            clock: clock
        )
        node.attach(pool)
        let services = Services(
            current: LiveConfiguration(configuration),
            access: access,
            pool: pool,
            streams: StreamRegistry(hub: hub),
            streamResources: StreamResources { [weak node] in node?.made(.streamRemoved($0)) },
            timers: TimerQueue(clock: clock),
            process: ProcessState(startedAt: simulator.now),
            metrics: { "" },
            clock: clock,
            coordination: node
        )
        let host = HTTPHost(services: services, middlewares: HTTPHost.guards(services), logger: logger)
        let streams = try SimulatedStreams(simulator, of: number)
        let waker = UncheckedBox(streams)
        let shard = hub.makeShard(seed: seed) { waker.value?.wake() }
        streams.scheduler.feed = shard
        return Parts(services: services, host: host, node: node, streams: streams)
    }

    private func makeNode(
        _ seed: UInt64,
        _ configuration: GatewayConfiguration,
        _ engine: SimulatedEngine,
        _ hub: EventHub,
        _ logger: Logger,
        _ clock: @escaping @Sendable () -> Moment
    ) -> ClusterNode {
        let info = MemberInfo(name: "\(number)", version: "1", upstreams: ["demo"])
        let timings = configuration.cluster.timings(linger: configuration.pool.subscriptionLinger)
        let machine = MemberMachine(info: info, seed: seed, groups: 2, timings: timings)
        return ClusterNode(
            configuration: configuration.cluster,
            engine: SimulatedEngineAccess(engine: engine, number: number, process: machine.process),
            machine: machine,
            hub: hub,
            logger: logger,
            clock: clock
        )
    }

    // MARK: - Requests

    /// Sends a request; the response arrives at the world. Returns an action by which the client leaves before it.
    func send(_ request: HTTPRequest, _ done: @escaping (Answer) -> Void) -> () -> Void {
        let receiver = Receiver(done: done)
        let responder = HTTPResponder { [self] answer in
            switch answer {
            case .response(let response): reply(.response(response), receiver.done)
            case .stream(_, let stream): open(stream, receiver.done)
            }
        }
        simulator.schedule(after: simulator.delay(upTo: 5), as: number) { [self] in
            guard isAlive, let parts else { return reply(.none, done) }
            switch parts.host.handle(request, responder) {
            case .respond(let response): reply(.response(response), done)
            case .stream(_, let stream): open(stream, done)
            case .wait: _ = responder.expectAnswer()
            }
        }
        return { [simulator, number] in simulator.schedule(as: number) { responder.abandon() } }
    }

    private func open(_ stream: AdmittedStream, _ done: @escaping (Answer) -> Void) {
        guard let client = parts?.streams.open(stream) else { return reply(.none, done) }
        reply(.stream(client), done)
    }

    private func reply(_ answer: Answer, _ done: @escaping (Answer) -> Void) {
        let isLost = !isAlive
        simulator.schedule(after: simulator.delay(upTo: 5), as: Simulator.world) { done(isLost ? .none : answer) }
    }

    // MARK: - Faults

    /// The client's end of a connection has changed.
    func wake() { parts?.streams.wake() }

    func pause() {
        isPaused = true
        simulator.pause(number)
    }

    func resume() {
        isPaused = false
        simulator.resume(number)
    }

    /// Nothing of the process reaches others any more. Its tasks end, so that nothing of it is left in memory.
    func end() {
        isAlive = false
        if isPaused { resume() }
        task?.cancel()
        task = nil
    }

    /// Leaves the cluster, as a process that is asked to stop does.
    func leave() {
        guard let node = parts?.node else { return }
        simulator.perform(as: number) {
            Task { await node.leave(within: .seconds(1)) }
        }
    }
}

/// The receiver of a response, which the gateway's own threads call.
private struct Receiver: @unchecked Sendable {
    let done: (SimulatedGateway.Answer) -> Void
}

/// A reference that is passed to other threads, which the simulation does not have.
final class UncheckedBox<Value: AnyObject>: @unchecked Sendable {
    weak var value: Value?

    init(_ value: Value) { self.value = value }
}
