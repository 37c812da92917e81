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
    private static let settling = Duration.seconds(25)

    let simulator: Simulator
    let schedule: Schedule
    /// How often the engine has begun to lose data, and how often that was over.
    var losses = 0
    /// Whether it is losing data, or members have not reported again what they have.
    var isLosing: Bool { losses % 2 == 1 }
    /// Whether different frames may have been read at the same position.
    var hasTwoLogs = false
    /// Whether readers stay where they are.
    private(set) var isCalm = false
    private(set) var problems: [String] = []
    private var gateways: [SimulatedGateway] = []
    private var readers: [StreamReader] = []
    private var callers: [ResourceCaller] = []
    private var prepared: [PreparedReader] = []
    private var holders: [TicketHolder] = []
    let engine: SimulatedEngine
    let server: SimulatedServer
    private let configuration: GatewayConfiguration
    private lazy var limitedCaller = LimitedCaller(self)
    private var isPublishing = true

    init(_ schedule: Schedule) {
        self.schedule = schedule
        simulator = Simulator(seed: schedule.seed)
        let loss = [0, 0, 5, 30].randomElement(using: &simulator.generator) ?? 0
        engine = SimulatedEngine(simulator, loss: loss)
        server = SimulatedServer(simulator, seed: schedule.seed)
        configuration = Self.configuration
    }

    private static var configuration: GatewayConfiguration {
        var configuration = GatewayConfiguration()
        configuration.cluster.secret = "0123456789abcdef"
        let upstream = UpstreamConfiguration(name: "demo", serverAddress: "http://server:80", adapterSet: "DEMO")
        configuration.pool.upstreams = [upstream]
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
        for _ in 0..<3 { start() }
        publish()
        simulator.run(for: .seconds(3))
        let contents = StreamReader.Contents()
        for name in 0..<5 {
            let items = [["raw1", "raw2"], ["raw3"], ["merge1", "merge2"]][name % 3]
            readers.append(StreamReader(name, items, isMerged: name % 3 == 2, contents, self))
        }
        callers = (0..<2).map { ResourceCaller($0, self) }
        prepared = (0..<2).map { PreparedReader(readers.count + $0, contents, self) }
        holders = (0..<2).map { TicketHolder($0, self) }
        _ = limitedCaller
        simulator.run(for: .seconds(3))
        for step in schedule.steps { perform(step) }
        settle()
        finish()
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
        simulator.schedule(after: .milliseconds(10) + simulator.delay(upTo: 100), as: Simulator.world) { [weak self] in
            self?.publish()
        }
    }

    func kill(_ gateway: SimulatedGateway) {
        for reader in readers + prepared.map(\.reader) { reader.lost(gateway) }
        for holder in holders { holder.lost(gateway) }
        engine.forget(gateway.number)
        server.refuse(gateway.number, isKilled: true)
        gateway.end()
    }

    // MARK: - Checks

    /// What has to hold a while after the last fault.
    private func settle() {
        isCalm = true
        simulator.run(for: Self.settling)
        let upstream = server.census.boundSubscriptions
        if upstream != 3 { problems.append("\(upstream) upstream subscriptions for 3 different ones") }
        isPublishing = false
        simulator.run(for: .seconds(3))
        for reader in readers + prepared.map(\.reader) {
            for item in reader.items where reader.highest[item] != server.published[item] {
                let (last, present) = (reader.highest[item] ?? 0, server.published[item] ?? 0)
                problems.append("reader \(reader.name): \(item) ends at \(last) instead of \(present)")
            }
        }
    }

    /// All readers and callers leave: nothing is left in the gateways, nor at the upstream server.
    private func finish() {
        for reader in readers { reader.end() }
        for caller in callers { caller.end() }
        for reader in prepared { reader.end() }
        for holder in holders { holder.end() }
        limitedCaller.end()
        simulator.run(for: .seconds(60))
        problems += readers.flatMap(\.problems) + callers.flatMap(\.problems) + limitedCaller.problems
        problems += prepared.flatMap { $0.problems + $0.reader.problems } + holders.flatMap(\.problems)
        if simulator.isEndless { problems.append("the work of one moment does not end") }
        if !limitedCaller.isDone || !callers.allSatisfy(\.isDone) { problems.append("a caller does not end") }
        if !prepared.allSatisfy(\.isDone) || !holders.allSatisfy(\.isDone) { problems.append("a reader does not end") }
        // With the engine's data its keys are lost, so that a repeated request makes a second resource.
        if losses > 0 { removeResources() }
        for gateway in alive { check(gateway) }
        let census = server.census
        if census.sessions > 0 { problems.append("\(census.sessions) upstream sessions are left") }
        end()
    }

    private func check(_ gateway: SimulatedGateway) {
        guard let parts = gateway.parts else { return problems.append("gateway \(gateway.number) has ended") }
        let left = [
            "streams": parts.services.streams.count, "open streams": parts.streams.scheduler.count,
            "subscriptions": parts.pool.resources().count, "clients": parts.pool.clients().count,
            "prepared streams": parts.node.hub.streams().count,
        ]
        for (what, count) in left.sorted(by: { $0.key < $1.key }) where count > 0 {
            problems.append("gateway \(gateway.number): \(count) \(what) are left")
        }
        guard let ledger = parts.node.state.withLock({ $0.machine.ledger }) else {
            return problems.append("gateway \(gateway.number) has no state")
        }
        let entries = ledger.topics.count + ledger.subscriptions.count + ledger.clients.count + ledger.specified.count
        if entries > 0 { problems.append("gateway \(gateway.number): \(entries) entries of the ledger are left") }
        if ledger.members.count != alive.count {
            problems.append("gateway \(gateway.number): \(ledger.members.count) members of \(alive.count)")
        }
    }

    /// Ends all processes, whose parts have to be freed.
    private func end() {
        let nodes = gateways.map { WeakReference($0.parts?.node) }
        for gateway in alive { kill(gateway) }
        simulator.run(for: .seconds(10))
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
            refused: limitedCaller.refused,
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
