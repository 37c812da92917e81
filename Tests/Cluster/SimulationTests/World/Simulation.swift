import Primitives
import SessionPool
import TestSupport

@testable import Gateway
@testable import GatewayCluster
@testable import MicroHTTPD

/// Several gateways, an engine, an upstream server, readers and callers in one thread, under a schedule of faults; all random
/// values follow from its seed.
///
///     readers, callers ─▶ HTTPHost ─▶ ClusterNode ─▶ SimulatedEngine        the same frames as in a real engine
///            ▲                │            │
///            │                ▼            ▼
///     pairs of sockets    SessionPool   EventHub
///            ▲                │            │
///            │                ▼            ▼
///     StreamScheduler     LightstreamerClient ─▶ SimulatedServer (DemoServerMachine)
///
/// Not in it: libmicrohttpd's parser and threads, sockets of upstream connections, TLS, libnats, large bodies (they have a
/// thread of their own).
final class Simulation {
    static let admin = "lsg_admin"
    static let limited = "lsg_limited"

    let simulator: Simulator
    let schedule: Schedule
    /// How often the engine has begun to lose data, and how often that was over.
    var losses = 0
    /// Whether it is losing data, or members have not reported again what they have.
    var isLosing: Bool { losses % 2 == 1 }
    /// Whether an epoch has begun although the engine has lost nothing: the keys of requests are lost with the former one.
    var hasLostKeys = false
    /// Whether different frames may have been read at the same position.
    var hasTwoLogs = false
    /// Whether the engine shows two logs, which not all members have noticed.
    var showsTwoLogs = false
    /// Whether readers stay where they are.
    var isCalm = false
    var problems: [String] = []
    private(set) var gateways: [SimulatedGateway] = []
    private(set) var readers: [StreamReader] = []
    private(set) var callers: [ResourceCaller] = []
    private(set) var prepared: [PreparedReader] = []
    private(set) var holders: [TicketHolder] = []
    private(set) var limitedCallers: [LimitedCaller] = []
    let engine: SimulatedEngine
    let server: SimulatedServer
    let cast: Cast
    /// What a client reads at once, for all readers.
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    var isPublishing = true
    private let configuration: GatewayConfiguration

    init(_ schedule: Schedule) {
        self.schedule = schedule
        simulator = Simulator(seed: schedule.seed)
        cast = Cast(using: &simulator.generator)
        engine = SimulatedEngine(simulator, loss: cast.loss)
        server = SimulatedServer(simulator, seed: schedule.seed)
        configuration = Self.configuration(of: cast)
    }

    private static func configuration(of cast: Cast) -> GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.cluster.secret = "0123456789abcdef"
        let upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://server:80", adapterSet: "DEMO")
        configuration.pool.upstreams = [upstream]
        (configuration.pool.subscriptionLinger, configuration.pool.sessionLinger) = (cast.linger, .seconds(2))
        var limited = KeyConfiguration(name: "limited", hash: KeyHash(of: limited))
        limited.rights = Rights(
            operations: Set(Right.allCases),
            upstreams: [WildcardPattern("demo")],
            items: [WildcardPattern("own*")],
            maxSubscriptions: LimitedCaller.limit
        )
        var admin = KeyConfiguration(name: "admin", hash: KeyHash(of: admin))
        admin.rights = .all
        configuration.access.keys = [admin, limited]
        return configuration
    }

    /// Runs a schedule; returns the violations.
    static func problems(of schedule: Schedule) -> [String] { run(schedule).problems }

    /// Runs a schedule.
    @discardableResult
    static func run(_ schedule: Schedule) -> Simulation {
        let simulation = Simulation(schedule)
        simulation.simulator.hold(seed: schedule.seed) { simulation.run() }
        return simulation
    }

    private func run() {
        for _ in 0..<cast.gateways { start() }
        publish()
        simulator.run(upTo: .seconds(5)) { isSettled }
        let contents = StreamReader.Contents()
        readers = cast.readers.enumerated().map { StreamReader($0, $1, contents, self) }
        callers = (0..<cast.callers).map { ResourceCaller($0, self) }
        prepared = (0..<cast.prepared).map { PreparedReader(readers.count + $0, contents, self) }
        holders = (0..<cast.holders).map { TicketHolder($0, self) }
        limitedCallers = (0..<cast.limitedCallers).map { _ in LimitedCaller(self) }
        simulator.run(for: .seconds(1))
        for step in schedule.steps { perform(step) }
        settle()
        finish()
        end()
    }

    // MARK: - Processes

    func start() { gateways.append(SimulatedGateway(gateways.count, simulator, configuration, engine, server)) }

    var alive: [SimulatedGateway] { gateways.filter(\.isAlive) }

    /// A gateway that a balancer chooses; it may be paused.
    func anyGateway() -> SimulatedGateway? { alive.randomElement(using: &simulator.generator) }

    func happens(_ perMille: Int) -> Bool { Int.random(in: 0..<1000, using: &simulator.generator) < perMille }

    private func publish() {
        guard isPublishing else { return }
        for item in ["raw1", "raw2", "raw3"] { server.publish(item, to: "RAW") }
        if happens(500) { server.publish(happens(500) ? "merge1" : "merge2", to: "MERGE") }
        simulator.schedule(after: .milliseconds(5) + simulator.delay(upTo: cast.pace), as: Simulator.world) {
            [weak self] in self?.publish()
        }
    }

    func kill(_ gateway: SimulatedGateway) {
        for reader in readers + prepared.map(\.reader) { reader.lost(gateway) }
        for holder in holders { holder.lost(gateway) }
        engine.forget(gateway.number)
        server.refuse(gateway.number, isKilled: true)
        gateway.end()
    }

    /// Ends all processes, whose parts have to be freed.
    private func end() {
        let nodes = gateways.map { WeakReference($0.parts?.node) }
        for gateway in alive { kill(gateway) }
        simulator.run(upTo: .seconds(10)) { gateways.allSatisfy { $0.parts == nil } }
        simulator.clear()
        for gateway in gateways where gateway.parts != nil { problems.append("gateway \(gateway.number) does not end") }
        let left = nodes.count { $0.value != nil }
        if left > 0 { problems.append("\(left) gateways are not freed") }
    }

    /// What the readers and callers have seen.
    var figures: Figures {
        let streams = readers + prepared.map(\.reader)
        return Figures(
            resumed: streams.map(\.resumed).reduce(0, +),
            gaps: streams.map(\.gaps).reduce(0, +),
            confirmed: callers.map(\.confirmed).reduce(0, +),
            refused: limitedCallers.map(\.refused).reduce(0, +),
            prepared: prepared.map(\.made).reduce(0, +),
            tickets: holders.map(\.used).reduce(0, +)
        )
    }

    /// How often streams resumed or had a gap, resources were confirmed, a quota was reached, a stream was prepared, and a
    /// ticket opened a stream.
    struct Figures: CustomStringConvertible {
        var resumed = 0
        var gaps = 0
        var confirmed = 0
        var refused = 0
        var prepared = 0
        var tickets = 0

        mutating func add(_ other: Figures) {
            resumed += other.resumed
            gaps += other.gaps
            confirmed += other.confirmed
            refused += other.refused
            prepared += other.prepared
            tickets += other.tickets
        }

        var description: String {
            "\(resumed) resumed, \(gaps) gaps, \(confirmed) resources, \(refused) refused by a quota, "
                + "\(prepared) prepared streams, \(tickets) tickets used"
        }
    }
}

private struct WeakReference {
    weak var value: AnyObject?

    init(_ value: AnyObject?) { self.value = value }
}
