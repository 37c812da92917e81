import Changes
import Primitives
import SessionCore
import TestSupport

@testable import Replication

/// Several members over a log in memory, under a schedule determined by a seed: appends are late, lost and repeated,
/// deliveries are late or lost, nodes crash, pause and lose their connection, the log is rolled back or emptied.
final class SimulatedCluster {
    private enum Step {
        case frame(StoredFrame)
        case heartbeat(Heartbeat)
        case logInspected(LogGeneration?)
        case fetched([StoredFrame]?)
        case state(ClusterSnapshot)
    }

    private struct Scheduled {
        let at: Moment
        let order: Int
        let node: Int
        let connection: Int
        let step: Step
    }

    private var generator: SeededGenerator
    private(set) var now = Moment(nanoseconds: 1_000_000_000)
    private(set) var nodes: [SimulatedNode] = []
    private(set) var readers: [SimulatedReader] = []
    private var log: [[UInt8]] = []
    /// The number of frames at the beginning of the log that the engine keeps no more.
    private var forgotten = 0
    private var created = 1
    /// The number of requests for frames that the engine does not answer.
    var unansweredFetches = 0
    private var isEngineUp = true
    /// Whether the engine has a log. A node that connects makes a missing one.
    private var hasLog = true
    /// Whether the engine is stopped: connections stay open, and what was sent arrives later.
    private var isEnginePaused = false
    private var appends: [(at: Moment, bytes: [UInt8])] = []
    /// What the engine shows from an index of the log on, to which nodes; the frames from there wait until the lie is
    /// complete.
    private var lie: (lie: EngineLie, index: Int, bit: Int, nodes: Set<Int>)?
    /// The bytes that nodes read at indexes of the log instead of those that were appended.
    private var shown: [Int: [Int: [UInt8]]] = [:]
    /// The nodes for which the engine has lost frames, by the index of the frame.
    private var lost: [Int: Set<Int>] = [:]
    /// The nodes whose requests a server answers that has the log only up to an index.
    private var stale: (nodes: Set<Int>, count: Int)?
    /// The proofs of two logs that nodes have reported.
    private(set) var divergences: [LogDivergence] = []
    /// The epochs that nodes have entered.
    private(set) var epochs: Set<UInt64> = []
    /// The nodes that have reported that they cannot join.
    private(set) var refused: [Int] = []
    private var scheduled: [Scheduled] = []
    private var order = 0
    private var number = 0
    /// Whether the server sends nothing.
    var isQuiet = false
    let upstream = SimulatedUpstream()
    /// The violations so far.
    private(set) var problems: [String] = []
    private var opened: Set<String> = []
    /// The members with another configuration, by the node that reported them.
    private(set) var differences: [String] = []
    /// In thousandths: how often an append or a delivery is lost or repeated.
    let loss: Int

    init(nodes count: Int, seed: UInt64, loss: Int, formats: Formats = .supported) {
        generator = SeededGenerator(seed: seed)
        self.loss = loss
        for _ in 0..<count { start(formats) }
    }

    @discardableResult
    func start(_ formats: Formats = .supported) -> SimulatedNode {
        let clock: () -> Moment = { [unowned self] in now }
        let node = SimulatedNode(
            number: nodes.count,
            seed: generator.next(),
            formats: formats,
            upstream: upstream,
            now: clock
        )
        nodes.append(node)
        connect(node)
        return node
    }

    /// The format of the last frame of the log.
    var lastFormat: UInt8? { log.last.flatMap { ClusterFrame($0)?.format } }

    func addReaders(_ count: Int, areAwaited: Bool = true) {
        for _ in 0..<count { readers.append(SimulatedReader(seed: generator.next(), isAwaited: areAwaited)) }
    }

    var alive: [SimulatedNode] { nodes.filter { $0.isAlive && !$0.isPaused } }

    // MARK: - Faults

    func kill(_ node: SimulatedNode) {
        node.isAlive = false
        node.isConnected = false
    }

    func disconnect(_ node: SimulatedNode) {
        guard node.isConnected else { return }
        node.isConnected = false
        node.connection += 1
        node.machine.disconnected()
    }

    /// The connection of a node carries nothing any more, and stays open.
    func hold(_ node: SimulatedNode) { node.isHeld = true }

    func connect(_ node: SimulatedNode) {
        guard node.isAlive, !node.isConnected, isEngineUp, !isEnginePaused, now >= node.connectsAfter else { return }
        hasLog = true
        node.isConnected = true
        node.isHeld = false
        node.connection += 1
        perform(node.machine.connected(at: now), node)
    }

    func stopEngine() {
        isEngineUp = false
        for node in nodes where node.isAlive { disconnect(node) }
    }

    func startEngine() { isEngineUp = true }

    func pauseEngine() { isEnginePaused = true }

    func continueEngine() { isEnginePaused = false }

    /// The log loses its newest frames.
    func rollBack(by count: Int) { log.removeLast(min(count, log.count - forgotten)) }

    /// The engine shows other frames than the next ones to these nodes. Returns the first position.
    @discardableResult
    func lie(_ lie: EngineLie, to nodes: Set<Int>) -> UInt64 {
        self.lie = (lie, log.count, Int.random(in: 0..<1 << 20, using: &generator), nodes)
        return UInt64(log.count) + 1
    }

    /// The engine loses the next frame for these nodes.
    func loseNextFrame(for nodes: Set<Int>) { lost[log.count] = nodes }

    /// A server that receives no frames any more answers the requests of these nodes, until `endStaleness`.
    func answerFromStaleServer(_ nodes: Set<Int>) { stale = (nodes, log.count) }

    func endStaleness() { stale = nil }

    /// Frames at the end of the log are replaced by later ones; these nodes can still read the former frames.
    func rollBack(by count: Int, hiddenFrom nodes: Set<Int>) {
        let first = max(forgotten, log.count - count)
        for node in nodes {
            for index in first..<log.count { shown[node, default: [:]][index] = log[index] }
        }
        log.removeSubrange(first...)
    }

    /// Frames that the log has are appended again: the engine does not recognize them any more.
    func repeatFrames(_ indexes: Range<Int>) {
        for index in indexes { appends.append((delay(), log[index])) }
    }

    var frameCount: Int { log.count }

    private func isLost(_ index: Int, for node: SimulatedNode) -> Bool { lost[index]?.contains(node.number) ?? false }

    /// The end of the log as a node sees it in answers to its requests.
    private func end(for node: SimulatedNode) -> Int {
        if let stale, stale.nodes.contains(node.number) { min(stale.count, log.count) } else { log.count }
    }

    /// What the engine returns for a range of positions: the frames before the first one that it does not have.
    private func fetched(_ range: ClosedRange<UInt64>, by node: SimulatedNode) -> [StoredFrame]? {
        let frames = range.prefix { position in
            position > UInt64(forgotten) && position <= UInt64(end(for: node)) && !isLost(Int(position) - 1, for: node)
        }
        return frames.isEmpty ? nil : frames.map { stored(Int($0) - 1, for: node) }
    }

    /// The engine shows an earlier frame at one of the last positions to a node.
    func show(anotherFrame distance: Int, to node: Int) {
        shown[node, default: [:]][log.count - distance] = log[log.count - distance - 1]
    }

    /// The frame at an index of the log, as a node reads it.
    private func stored(_ index: Int, for node: SimulatedNode) -> StoredFrame {
        StoredFrame(position: UInt64(index) + 1, bytes: shown[node.number]?[index] ?? log[index])
    }

    /// Delivers the frame at an index of the log; once a lie is complete, all frames from its beginning on.
    private func announce(_ index: Int) {
        var indexes = index...index
        if let lie, log.count > lie.index {
            guard let bytes = lie.lie.shown(log, from: lie.index, bit: lie.bit) else { return }
            for node in lie.nodes { shown[node, default: [:]].merge(bytes) { $1 } }
            indexes = lie.index...index
            self.lie = nil
        }
        for index in indexes {
            for node in nodes where node.isConnected && !isLost(index, for: node) && !generator.happens(loss) {
                schedule(.frame(stored(index, for: node)), for: node)
            }
        }
    }

    /// The engine keeps only the frames of the future.
    func forget() { forgotten = log.count }

    func empty() {
        log = []
        forgotten = 0
        created += 1
        appends = []
        (shown, lost) = ([:], [:])
    }

    /// The log is deleted while the connections stay open.
    func deleteLog() {
        empty()
        hasLog = false
    }

    // MARK: - Time

    /// Runs for a while; the server sends a number every ten milliseconds.
    func run(_ duration: Duration) {
        let end = now + duration
        while now < end {
            now = now + .milliseconds(10)
            if !isQuiet {
                number += 1
                upstream.send(number)
            }
            for node in nodes where node.isAlive { node.feed() }
            if !isEnginePaused {
                land()
                deliver()
            }
            for node in alive {
                if !node.isConnected { connect(node) }
                perform(node.machine.timePassed(at: now), node)
                write(node)
            }
            let end = UInt64(log.count)
            for index in readers.indices { readers[index].step(nodes, end: end, at: now) }
        }
    }

    private func delay() -> Moment { now + .milliseconds(Int.random(in: 0...30, using: &generator)) }

    private func schedule(_ step: Step, for node: SimulatedNode) {
        order += 1
        scheduled.append(
            Scheduled(at: delay(), order: order, node: node.number, connection: node.connection, step: step)
        )
    }

    private func land() {
        guard isEngineUp else { return }
        let due = appends.filter { $0.at <= now }
        appends.removeAll { $0.at <= now }
        for append in due where hasLog {
            log.append(append.bytes)
            announce(log.count - 1)
        }
    }

    private func deliver() {
        let due = scheduled.filter { $0.at <= now && nodes[$0.node].receives }.sorted { $0.order < $1.order }
        scheduled.removeAll { $0.at <= now && nodes[$0.node].receives }
        for entry in due {
            let node = nodes[entry.node]
            guard node.isAlive, node.isConnected, node.connection == entry.connection else { continue }
            switch entry.step {
            case .frame(let frame): perform(node.machine.arrived(frame, at: now), node)
            case .heartbeat(let heartbeat): perform(node.machine.heard(heartbeat, at: now), node)
            case .logInspected(nil): perform(node.machine.inspectionFailed(isMissing: true), node)
            case .logInspected(let generation?): perform(node.machine.logInspected(generation, at: now), node)
            case .fetched(let frames?): perform(node.machine.fetched(frames, at: now), node)
            case .fetched(nil): perform(node.machine.fetchFailed(isMissing: true, at: now), node)
            case .state(let snapshot): perform(node.machine.stateArrived(snapshot, at: now), node)
            }
        }
    }

    private func write(_ node: SimulatedNode) {
        guard let bytes = node.machine.nextFrame(from: &node.outbox, at: now) else { return }
        append(bytes, by: node)
    }

    private func append(_ bytes: [UInt8], by node: SimulatedNode) {
        guard node.isConnected, !node.isHeld, !node.losesAppends, !generator.happens(loss) else { return }
        appends.append((delay(), bytes))
        // Also much later, as messages of a paused process or delayed by the network.
        if generator.happens(loss) {
            appends.append((now + .milliseconds(Int.random(in: 0...4000, using: &generator)), bytes))
        }
    }

    // MARK: - Actions

    func perform(_ actions: [MemberAction], _ node: SimulatedNode) {
        for action in actions {
            switch action {
            case .append(let bytes): append(bytes, by: node)
            case .fetch where unansweredFetches > 0: unansweredFetches -= 1
            case .fetch(let range): schedule(.fetched(fetched(range, by: node)), for: node)
            case .reconnect: disconnect(node)
            case .inspectLog:
                let generation = LogGeneration(
                    created: "\(created)",
                    first: UInt64(forgotten) + 1,
                    last: UInt64(end(for: node))
                )
                schedule(.logInspected(hasLog ? generation : nil), for: node)
            case .broadcast(let heartbeat):
                guard let copy = Heartbeat(heartbeat.bytes) else { return problems.append("heartbeat not readable") }
                for other in nodes where other.isConnected && !node.isHeld { schedule(.heartbeat(copy), for: other) }
            case .requestState(let formats): answer(node, in: formats)
            case .apply(let changes, let position):
                let found = node.hub.apply(changes, at: position)
                problems += found.map { "\(now.nanoseconds / 1_000_000): node \(node.number): \($0)" }
            case .beginWindows(let ledger, let last):
                node.hub.windows = ModelHub.Windows(base: ledger.position, lastChanges: last.compactMapValues(\.first))
            case .extendWindows(let changes, let position): node.hub.windows?.apply(changes, at: position)
            case .restart(let epoch, let position, _, let snapshot, let withWindows):
                epochs.insert(epoch)
                node.hub.restart(epoch: epoch, at: position, loading: snapshot, withWindows: withWindows)
            case .inherit(let id, let specification): node.inherit(id, specification)
            case .releaseResource(let id): node.release(id)
            case .openOutbox: node.open()
            case .closeOutbox: node.outbox.close()
            case .written(let records): node.confirm(records)
            case .carry(let id, let key, let term): node.carry(id, key, term: term)
            case .adopt(let session): node.adopt(session)
            case .reactivate, .reopened, .credit, .releaseUnusedCredits, .keepUsedCredits: break
            case .closeTicketStream, .closeTickets, .forget: break
            case .reportOtherConfiguration(let info): differences.append("\(node.number): \(info.name)")
            case .reportDivergence(let divergence): divergences.append(divergence)
            case .reportRefusal: refused.append(node.number)
            case .reportOtherFormats: break
            case .drop(let id): node.drop(id)
            case .dropAll: node.dropAll()
            case .left: node.hasLeft = true
            case .report(let subject, let outcome): report(subject, outcome, node)
            case .inheritStream(let id, _): node.streams.insert(id)
            case .releaseStream(let id):
                node.streams.remove(id)
                node.openStreams.remove(id)
            }
        }
    }

    /// A ticket that the nodes take for one of the present epoch opens one stream in it.
    private func report(_ subject: RecordSubject, _ outcome: RecordOutcome, _ node: SimulatedNode) {
        guard outcome == .accepted else { return }
        if case .stream(let id) = subject {
            for other in alive where other !== node && other.openStreams.contains(id) && isMember(other, to: node) {
                problems.append("\(id) is opened on \(node.number) while it is open on \(other.number)")
            }
            node.streams.insert(id)
            node.openStreams.insert(id)
        }
        guard case .ticket(let key) = subject else { return }
        let epoch = node.machine.ledger?.epoch ?? 0
        if !opened.insert("\(epoch) \(key)").inserted { problems.append("ticket \(key) opened two streams") }
        node.opened.insert(key)
    }

    /// Whether a node knows another one as a member of the cluster.
    private func isMember(_ other: SimulatedNode, to node: SimulatedNode) -> Bool {
        node.machine.ledger?.members[other.machine.member] != nil
    }

    private func answer(_ node: SimulatedNode, in formats: Formats) {
        for other in alive where other !== node && other.isConnected && !isEnginePaused && !other.isHeld {
            guard let state = other.machine.state(for: formats, at: now) else { continue }
            var snapshot = state.snapshot
            snapshot.tables = other.hub.events(of: snapshot.ledger)
            let lastEvents = other.hub.lastChanges(of: snapshot.start)
            snapshot.past?.lastEvents = lastEvents
            guard let copy = try? ClusterSnapshot(snapshot.bytes(in: state.format), among: formats) else {
                problems.append("a snapshot cannot be read")
                continue
            }
            if copy != snapshot { problems.append("a snapshot changes on its way") }
            schedule(.state(copy), for: node)
        }
    }

    // MARK: - Checks

    /// Compares the events of all nodes under the same epoch, including crashed ones.
    func check() {
        for node in nodes {
            problems += node.problems
            node.problems = []
        }
        for (index, left) in nodes.enumerated() {
            for right in nodes[..<index] where left.hub.epoch == right.hub.epoch && left.hub.epoch != 0 {
                let from = max(left.hub.base, right.hub.base)
                let through = min(left.hub.position, right.hub.position)
                let leftTold = left.hub.told.filter { $0.position > from && $0.position <= through }
                let rightTold = right.hub.told.filter { $0.position > from && $0.position <= through }
                if leftTold != rightTold {
                    problems.append("nodes \(left.number) and \(right.number) differ in \(from)...\(through)")
                }
                if left.hub.position == right.hub.position, !hasSameLedger(left, right) {
                    problems.append("the ledgers of \(left.number) and \(right.number) differ")
                }
            }
        }
    }

    private var state: String {
        let positions = alive.map { "\($0.number): \($0.machine.position) \($0.outbox.count)" }
        return "log \(log.count), nodes \(positions)"
    }

    private func hasSameLedger(_ left: SimulatedNode, _ right: SimulatedNode) -> Bool {
        guard let left = left.machine.ledger, let right = right.machine.ledger else { return true }
        return left.epoch == right.epoch && left.members == right.members && left.topics == right.topics
            && left.subscriptions == right.subscriptions && left.clients == right.clients
            && left.sessions == right.sessions && left.specified == right.specified
            && left.ticketUses == right.ticketUses
    }

    /// Each prepared stream belongs to one node, and to the same one as the log has it.
    func checkStreams(_ ids: [String]) {
        for id in ids {
            let holders = alive.filter { $0.streams.contains(id) }
            if holders.count != 1 { problems.append("\(id) is on \(holders.map(\.number))") }
            for node in holders where node.machine.holder(of: id) != .own {
                problems.append("\(id) is on \(node.number), which is not its owner")
            }
            for node in alive {
                let isOpen = node.machine.ledger?.specified[id]?.isOpen ?? false
                let isOpenSomewhere = alive.contains { $0.openStreams.contains(id) }
                if isOpen != isOpenSomewhere { problems.append("\(id) is open: \(isOpen), \(isOpenSomewhere)") }
            }
        }
    }

    /// Each resource that a node has belongs to it and to no other, and none that was confirmed is missing.
    func checkResources(_ confirmed: Set<String>) {
        var holders: [String: [Int]] = [:]
        for node in alive { for id in node.resources { holders[id, default: []].append(node.number) } }
        for (id, nodes) in holders where nodes.count > 1 { problems.append("\(id) is on \(nodes)") }
        for node in alive {
            for id in node.resources where node.machine.holder(of: id) != .own {
                problems.append("\(id) is on \(node.number), which is not its owner")
            }
        }
        for id in confirmed.sorted() where holders[id] == nil { problems.append("\(id) is lost") }
    }

    /// The violations of the final state after a time without faults.
    func checkSettled(topics: [String]) {
        check()
        guard let ledger = alive.first?.machine.ledger else { return problems.append("no state") }
        for node in alive {
            if !node.machine.isMember { problems.append("node \(node.number) is no member") }
            if !node.machine.isServing(at: now) { problems.append("node \(node.number) does not serve") }
        }
        if ledger.members.count != alive.count {
            problems.append("\(ledger.members.count) members of \(alive.count)")
        }
        for (id, topic) in ledger.topics.byID where !topic.interested.allSatisfy({ ledger.members[$0] != nil }) {
            problems.append("\(id) is wanted by a member that is gone")
        }
        let subscribed = upstream.subscriptions(readBy: alive.map(\.number))
        if subscribed != topics.count { problems.append("\(subscribed) upstream subscriptions of \(topics.count)") }
        for id in topics {
            let owners = alive.filter { $0.carried[id] != nil }
            if owners.count != 1 { problems.append("\(id) has \(owners.count) owners") }
            if owners.first?.hub.lastNumbers[id] ?? 0 < number - 500 { problems.append("\(id) is stale: \(state)") }
        }
    }
}
