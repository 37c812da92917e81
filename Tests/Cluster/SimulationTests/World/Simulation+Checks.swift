@testable import Gateway
@testable import GatewayCluster
@testable import MicroHTTPD
@testable import Replication

/// What holds after the faults, and after the clients have left.
extension Simulation {
    /// Whether all processes are members that have the present state of the cluster.
    var isSettled: Bool {
        let (count, now) = (alive.count, simulator.now)
        return engine.isUp
            && alive.allSatisfy { gateway in
                guard !gateway.isPaused, let node = gateway.parts?.node else { return false }
                return node.state.withLock { state in
                    state.machine.isSettled && state.machine.isServing(at: now) && state.machine.isComplete(at: now)
                        && state.machine.ledger?.members.count == count
                }
            }
    }

    /// A while after the last fault, all readers are even with the upstream server.
    func settle() {
        isCalm = true
        simulator.run(upTo: .seconds(25)) { isSettled }
        let published = server.published
        simulator.run(upTo: .seconds(25)) { isSettled && hasRead(published) && upstreamSubscriptions == nil }
        if let problem = upstreamSubscriptions { problems.append(problem) }
        isPublishing = false
        // A member appends a lost frame again after a second, which could be lost too.
        engine.endLosses()
        simulator.run(upTo: .seconds(3)) { behind.isEmpty }
        problems += behind
    }

    private var allReaders: [StreamReader] { readers + prepared.map(\.reader) }

    /// Whether all readers receive what is published after these numbers.
    private func hasRead(_ published: [String: Int]) -> Bool {
        allReaders.allSatisfy { reader in
            reader.isReading && reader.items.allSatisfy { reader.highest[$0] ?? 0 > published[$0] ?? 0 }
        }
    }

    /// A wrong number of subscriptions at the upstream server. Clients that come and go have some at times.
    private var upstreamSubscriptions: String? {
        let least = Set(readers.map(\.items))
        let most = least.union(prepared.map(\.reader.items)).union(holders.map { _ in TicketHolder.items })
        let count = server.census.boundSubscriptions
        return (least.count...most.count).contains(count)
            ? nil : "\(count) upstream subscriptions for \(least.count) to \(most.count) different ones"
    }

    /// The readers that have not received what was published last.
    private var behind: [String] {
        allReaders.flatMap { reader in
            reader.items.filter { reader.highest[$0] != server.published[$0] }.map { item in
                let (last, present) = (reader.highest[item] ?? 0, server.published[item] ?? 0)
                return "reader \(reader.name): \(item) ends at \(last) instead of \(present)"
            }
        }
    }

    /// All readers and callers leave: nothing is left in the gateways, nor at the upstream server.
    func finish() {
        for reader in readers { reader.end() }
        for caller in callers { caller.end() }
        for reader in prepared { reader.end() }
        for holder in holders { holder.end() }
        for caller in limitedCallers { caller.end() }
        // With the engine's data its keys are lost, so that a repeated request makes a second resource.
        let mayBeDouble = losses > 0 || hasLostKeys
        simulator.run(upTo: .seconds(60)) { stayed.isEmpty && (mayBeDouble || leftovers.isEmpty) }
        problems += readers.flatMap(\.problems) + callers.flatMap(\.problems) + limitedCallers.flatMap(\.problems)
        problems += prepared.flatMap { $0.problems + $0.reader.problems } + holders.flatMap(\.problems)
        if simulator.isEndless { problems.append("the work of one moment does not end") }
        problems += stayed
        if mayBeDouble {
            removeResources()
            simulator.run(upTo: .seconds(60)) { leftovers.isEmpty }
        }
        problems += leftovers
    }

    /// The clients that have not ended.
    private var stayed: [String] {
        let areDone =
            callers.map(\.isDone) + limitedCallers.map(\.isDone) + prepared.map(\.isDone) + holders.map(\.isDone)
        return areDone.contains(false) ? ["a client does not end"] : []
    }

    private var leftovers: [String] {
        let sessions = server.census.sessions
        return alive.flatMap(leftovers) + (sessions > 0 ? ["\(sessions) upstream sessions are left"] : [])
    }

    private func leftovers(of gateway: SimulatedGateway) -> [String] {
        guard let parts = gateway.parts else { return ["gateway \(gateway.number) has ended"] }
        guard let ledger = parts.node.state.withLock({ $0.machine.ledger }) else {
            return ["gateway \(gateway.number) has no state"]
        }
        let left = [
            (parts.services.streams.count, "streams"), (parts.streams.scheduler.count, "open streams"),
            (parts.pool.resources().count, "subscriptions"), (parts.pool.clients().count, "clients"),
            (parts.node.hub.streams().count, "prepared streams"),
            (ledger.topics.byID.count, "topics of the ledger"), (ledger.clients.count, "clients of the ledger"),
            (ledger.subscriptions.count, "subscriptions of the ledger"),
            (ledger.specified.count, "resources of the ledger"),
            (abs(ledger.members.count - alive.count), "members too many or too few"),
        ]
        return left.filter { $0.0 > 0 }.map { "gateway \(gateway.number): \($0) \($1) are left" }
    }
}
