import Replication
import SessionCore
import TestSupport
import Testing

struct RandomScheduleTests {
    private let topics = ["a", "b", "c", "d"]

    private func want(_ cluster: SimulatedCluster, _ generator: inout SeededGenerator) {
        for id in topics {
            for node in cluster.alive where generator.happens(700) || node === cluster.alive.first {
                node.addInterest(id)
            }
        }
    }

    /// The readers of some subscriptions leave, and others come.
    private func change(_ cluster: SimulatedCluster, _ generator: inout SeededGenerator) {
        for id in topics where generator.happens(200) {
            let isOver = generator.happens(500)
            for node in cluster.alive {
                if isOver || generator.happens(500) { node.removeInterest(id) } else { node.addInterest(id) }
            }
        }
    }

    @Test
    func calmClusterHasOneOwnerForEachSubscription() {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(8))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        for node in cluster.nodes {
            let ready = topics.filter { node.machine.isReady($0) }
            #expect(ready == topics)
        }
    }

    /// What readers have seen of a cluster under faults.
    private func readUnderFaults(seed: UInt64, areAwaited: Bool) -> SimulatedCluster {
        var generator = SeededGenerator(seed: seed &+ 1000)
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: Int.random(in: 0...60, using: &generator))
        cluster.addReaders(6, areAwaited: areAwaited)
        cluster.run(.seconds(4))
        want(cluster, &generator)
        for _ in 0..<8 {
            cluster.run(.milliseconds(Int.random(in: 100...3000, using: &generator)))
            change(cluster, &generator)
            disturb(cluster, &generator)
            cluster.check()
        }
        for node in cluster.nodes { node.isPaused = false }
        cluster.startEngine()
        if cluster.alive.isEmpty { cluster.start() }
        for id in topics { cluster.alive[0].addInterest(id) }
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics)
        return cluster
    }

    @Test(arguments: seeds(24))
    func faultsLeaveNeitherHolesNorRepetitions(seed: UInt64) {
        let cluster = readUnderFaults(seed: seed, areAwaited: true)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        for reader in cluster.readers { #expect(reader.problems.isEmpty && reader.resumed > 0, "seed \(seed)") }
    }

    @Test
    func checkFindsMembersThatServeBeforeTheyHaveCaughtUp() {
        let problems = (0..<6).flatMap { readUnderFaults(seed: $0, areAwaited: false).readers.flatMap(\.problems) }
        #expect(!problems.isEmpty)
    }

    private func disturb(_ cluster: SimulatedCluster, _ generator: inout SeededGenerator) {
        guard let node = cluster.alive.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0:
            cluster.kill(node)
            _ = cluster.start()
        case 1: node.isPaused = true
        case 2: for node in cluster.nodes { node.isPaused = false }
        case 3: cluster.disconnect(node)
        case 4:
            cluster.stopEngine()
            cluster.run(.milliseconds(Int.random(in: 10...5000, using: &generator)))
            cluster.startEngine()
        case 5:
            cluster.stopEngine()
            cluster.rollBack(by: Int.random(in: 1...40, using: &generator))
            cluster.startEngine()
        case 6:
            cluster.stopEngine()
            cluster.empty()
            cluster.startEngine()
        default: _ = cluster.start()
        }
    }

    @Test(arguments: [false, true])
    func sessionOfARemovedOwnerContinues(isPaused: Bool) throws {
        let cluster = SimulatedCluster(nodes: 3, seed: 5, loss: 20)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(5))
        let sessions = cluster.upstream.opened
        for _ in 0..<2 {
            let owner = try #require(cluster.alive.first { !$0.carried.isEmpty })
            if isPaused { owner.isPaused = true } else { cluster.kill(owner) }
            cluster.run(.seconds(5))
            owner.isPaused = false
            cluster.run(.seconds(5))
        }
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        #expect(cluster.upstream.opened == sessions)
        #expect(cluster.nodes.map(\.adopted).reduce(0, +) >= 2)
        let interruptions = try #require(cluster.alive.first).hub.told.filter { told in
            if case .subscription(_, .event(.unsubscribed)) = told.change { true } else { false }
        }
        #expect(interruptions.isEmpty)
    }

    /// Makes a fault that resources and prepared streams survive; false if no member is running.
    private func disturbResources(_ cluster: SimulatedCluster, _ generator: inout SeededGenerator) -> Bool {
        guard let node = cluster.alive.randomElement(using: &generator) else { return false }
        switch Int.random(in: 0..<5, using: &generator) {
        // What a member knew is lost where no other one is there that knows it.
        case 0 where cluster.alive.count > 1:
            cluster.kill(node)
            _ = cluster.start()
            cluster.run(.seconds(6))
        case 1: node.isPaused = true
        case 2: for node in cluster.nodes { node.isPaused = false }
        case 3: cluster.disconnect(node)
        default:
            cluster.stopEngine()
            cluster.run(.milliseconds(Int.random(in: 10...5000, using: &generator)))
            cluster.startEngine()
        }
        return true
    }

    @Test(arguments: seeds(16))
    func confirmedResourcesSurviveTheirOwner(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 5000)
        let cluster = SimulatedCluster(nodes: 3, seed: seed &+ 77, loss: Int.random(in: 0...60, using: &generator))
        cluster.run(.seconds(4))
        var made = 0
        for _ in 0..<8 {
            for _ in 0..<3 {
                cluster.alive.randomElement(using: &generator)?.make("p\(made)")
                made += 1
            }
            cluster.run(.milliseconds(Int.random(in: 10...2000, using: &generator)))
            guard disturbResources(cluster, &generator) else { continue }
            cluster.check()
        }
        for node in cluster.nodes { node.isPaused = false }
        cluster.run(.seconds(20))
        cluster.checkSettled(topics: [])
        let confirmed = cluster.nodes.reduce(into: Set<String>()) { $0.formUnion($1.confirmed) }
        cluster.checkResources(confirmed)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    /// - Parameters:
    ///   - isForgotten: The engine no longer has the removal when the former owner returns, which then loads the state of
    ///     another member.
    ///   - isLost: The engine loses its data between the removal of the former owner and that of the resource.
    @Test(arguments: [false, true], [false, true])
    func deletedResourceDoesNotReturnWithItsFormerOwner(isForgotten: Bool, isLost: Bool) throws {
        let cluster = SimulatedCluster(nodes: 3, seed: 21, loss: 0)
        cluster.run(.seconds(4))
        let former = cluster.nodes[0]
        former.make("p")
        former.prepare("t")
        cluster.run(.seconds(1))
        #expect(former.confirmed == ["p"])
        former.isPaused = true
        cluster.run(.seconds(6))
        if isLost {
            cluster.stopEngine()
            cluster.empty()
            cluster.startEngine()
            cluster.run(.seconds(10))
        }
        let owner = try #require(cluster.alive.first { $0.resources.contains("p") })
        owner.delete("p")
        let opener = try #require(cluster.alive.first { $0.streams.contains("t") })
        opener.remove("t")
        cluster.run(.seconds(1))
        if isForgotten {
            cluster.disconnect(former)
            cluster.forget()
        }
        former.isPaused = false
        cluster.run(.seconds(10))
        let hasJoined = former.machine.isMember
        #expect(hasJoined)
        #expect(cluster.nodes.allSatisfy { $0.machine.ledger?.subscriptions["p"] == nil })
        #expect(cluster.nodes.allSatisfy { $0.machine.ledger?.specified.isEmpty == true })
        #expect(cluster.nodes.allSatisfy { $0.resources.isEmpty && $0.streams.isEmpty })
        #expect(cluster.problems.isEmpty)
    }

    @Test(arguments: seeds(16))
    func ticketsOpenOneStreamInTheWholeCluster(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 9000)
        let cluster = SimulatedCluster(nodes: 3, seed: seed &+ 33, loss: Int.random(in: 0...60, using: &generator))
        cluster.run(.seconds(4))
        for round in 0..<12 as Range<UInt64> {
            let keys = (0..<3 as Range<UInt64>).map { RecordKey(high: round, low: $0) }
            for key in keys + keys { cluster.alive.randomElement(using: &generator)?.use(key) }
            cluster.run(.milliseconds(Int.random(in: 10...2000, using: &generator)))
            disturb(cluster, &generator)
            for key in keys { cluster.alive.randomElement(using: &generator)?.use(key) }
        }
        for node in cluster.nodes { node.isPaused = false }
        cluster.startEngine()
        cluster.run(.seconds(20))
        let last = RecordKey(high: 99, low: 0)
        for node in cluster.alive { node.use(last) }
        cluster.run(.seconds(3))
        cluster.check()
        #expect(cluster.alive.count { $0.opened.contains(last) } == min(1, cluster.alive.count))
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    @Test(arguments: seeds(16))
    func preparedStreamsAreOpenOnOneMember(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 7000)
        let cluster = SimulatedCluster(nodes: 3, seed: seed &+ 99, loss: Int.random(in: 0...60, using: &generator))
        cluster.run(.seconds(4))
        let ids = ["t1", "t2", "t3", "t4"]
        for id in ids { cluster.nodes.randomElement(using: &generator)?.prepare(id) }
        cluster.run(.seconds(3))
        for _ in 0..<12 {
            for id in ids {
                let node = cluster.alive.randomElement(using: &generator)
                if generator.happens(500) { node?.open(id) } else { cluster.alive.forEach { $0.close(id) } }
            }
            cluster.run(.milliseconds(Int.random(in: 10...2000, using: &generator)))
            guard disturbResources(cluster, &generator) else { continue }
            cluster.check()
        }
        for node in cluster.nodes { node.isPaused = false }
        cluster.run(.seconds(20))
        cluster.checkSettled(topics: [])
        cluster.checkStreams(ids)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    @Test
    func leavingMemberHandsOverAtOnce() throws {
        let cluster = SimulatedCluster(nodes: 3, seed: 7, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        let owner = try #require(cluster.nodes.first { !$0.carried.isEmpty })
        cluster.perform(owner.machine.leave(), owner)
        cluster.run(.milliseconds(300))
        #expect(owner.hasLeft && owner.carried.isEmpty)
        cluster.kill(owner)
        cluster.run(.milliseconds(300))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    /// Its server of the engine is cut off from the others, and delivers its own heartbeats still.
    @Test
    func memberThatHearsNoOtherAndCannotAppendServesNoResources() {
        let cluster = SimulatedCluster(nodes: 2, seed: 9, loss: 0)
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        node.losesAppends = true
        cluster.kill(cluster.nodes[1])
        func servesResources(after time: Duration) -> Bool {
            cluster.run(time)
            return node.machine.servesResources(at: cluster.now)
        }
        // A silent member is no reason by itself.
        #expect(servesResources(after: .milliseconds(1500)))
        #expect(!servesResources(after: .seconds(2)))
        node.losesAppends = false
        #expect(servesResources(after: .seconds(4)))
        cluster.checkSettled(topics: [])
        #expect(cluster.problems.isEmpty)
    }

    /// It has readers until its streams have ended, and the engine has lost its data meanwhile.
    @Test
    func memberThatHasLeftWritesNothingInANewEpoch() {
        let cluster = SimulatedCluster(nodes: 3, seed: 7, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        let before = node.machine.figures(at: cluster.now).counters
        cluster.stopEngine()
        cluster.perform(node.machine.leave(), node)
        node.machine.addReader("e", SimulatedNode.key("e"))
        cluster.empty()
        cluster.startEngine()
        cluster.run(.seconds(10))
        let after = node.machine.figures(at: cluster.now).counters
        #expect(node.hasLeft && after.epochs > before.epochs)
        #expect(after.framesAppended == before.framesAppended && after.epochsLoaded <= before.epochsLoaded + 1)
        cluster.kill(node)
        cluster.run(.seconds(15))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    @Test
    func aReloadChangesHowLongSubscriptionsLinger() {
        let cluster = SimulatedCluster(nodes: 1, seed: 12, loss: 0)
        let node = cluster.nodes[0]
        node.addInterest("a")
        cluster.run(.seconds(4))
        let before = node.machine.ledger?.topics.byID.count
        node.machine.configurationChanged(0, linger: .zero)
        node.removeInterest("a")
        cluster.run(.seconds(2))
        let after = node.machine.ledger?.topics.byID.count
        #expect(before == 1 && after == 0)
    }

    @Test
    func figuresShowOwnersTakeoversAndOtherConfigurations() throws {
        let cluster = SimulatedCluster(nodes: 3, seed: 11, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        #expect(cluster.differences.isEmpty)
        cluster.nodes[2].machine.configurationChanged(5)
        cluster.run(.seconds(2))
        #expect(cluster.differences.sorted() == ["0: node-2", "1: node-2"])
        let before = cluster.nodes[0].machine.figures(at: cluster.now)
        #expect(before.members.map(\.subscriptions).reduce(0, +) == topics.count && before.isServing)
        #expect(before.members.filter(\.hasOtherConfiguration).map(\.info.name) == ["node-2"])
        let owner = try #require(cluster.nodes.first { !$0.carried.isEmpty })
        let owned = owner.carried.count
        cluster.kill(owner)
        cluster.run(.seconds(5))
        let takeovers = cluster.alive.map { $0.machine.figures(at: cluster.now).counters.takeovers }
        #expect(takeovers.reduce(0, +) == UInt64(owned))
    }

    @Test
    func memberWithASilentConnectionOpensAnother() {
        let cluster = SimulatedCluster(nodes: 3, seed: 13, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        let connection = node.connection
        cluster.hold(node)
        cluster.run(.seconds(12))
        #expect(node.connection > connection)
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    @Test
    func memberWithHeartbeatsIsNotRemovedByAnEarlierDecision() {
        let cluster = SimulatedCluster(nodes: 3, seed: 23, loss: 0)
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        let member = node.machine.member
        // The others cannot write that they remove the paused one: each waits for an earlier frame.
        for other in cluster.nodes.dropFirst() {
            other.losesAppends = true
            other.make("p\(other.number)")
        }
        cluster.run(.milliseconds(100))
        node.isPaused = true
        cluster.run(.seconds(5))
        node.isPaused = false
        cluster.run(.seconds(2))
        for other in cluster.nodes { other.losesAppends = false }
        cluster.run(.seconds(4))
        #expect(node.machine.member == member)
        cluster.checkSettled(topics: [])
        #expect(cluster.problems.isEmpty)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func memberServesAgainOnceItHasReadWhatItMissed(seed: UInt64) {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        for _ in 0..<50 {
            cluster.disconnect(node)
            cluster.run(.milliseconds(10))
        }
        let end = cluster.nodes[1].machine.position
        var isServing = false
        for _ in 0..<500 where !isServing {
            cluster.run(.milliseconds(10))
            isServing = node.machine.isServing(at: cluster.now)
        }
        #expect(isServing && node.machine.position >= end)
    }

    @Test(arguments: [1, 3, 6] as [Int])
    func memberThatJoinsWhileTheEngineIsPausedBeginsNoEpoch(seconds: Int) {
        let cluster = SimulatedCluster(nodes: 3, seed: 17, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        let node = cluster.start()
        cluster.run(.milliseconds(10))
        cluster.pauseEngine()
        cluster.run(.seconds(seconds))
        cluster.continueEngine()
        cluster.run(.seconds(8))
        let isServing = node.machine.isServing(at: cluster.now)
        #expect(isServing && cluster.nodes.allSatisfy { $0.machine.ledger?.epoch == epoch })
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    @Test
    func ledgerIsIncompleteUntilMembersHaveReportedAfterTheBeginningOfAnEpoch() {
        let cluster = SimulatedCluster(nodes: 3, seed: 19, loss: 0)
        cluster.run(.seconds(4))
        cluster.nodes[0].make("p")
        cluster.run(.seconds(1))
        cluster.stopEngine()
        cluster.empty()
        cluster.startEngine()
        for _ in 0..<600 {
            cluster.run(.milliseconds(10))
            for node in cluster.nodes where node.machine.isComplete(at: cluster.now) {
                if node.machine.holder(of: "p") == .unknown { Issue.record("a complete ledger without the resource") }
            }
        }
        #expect(cluster.nodes.allSatisfy { $0.machine.isComplete(at: cluster.now) })
    }

    @Test
    func subscriptionWithoutReadersEnds() {
        let cluster = SimulatedCluster(nodes: 2, seed: 3, loss: 0)
        for node in cluster.nodes { node.machine.addReader("a", SimulatedNode.key("a")) }
        cluster.run(.seconds(4))
        for node in cluster.nodes { node.machine.removeReader("a", at: cluster.now) }
        cluster.run(.seconds(12))
        #expect(cluster.nodes.allSatisfy { $0.carried.isEmpty && $0.machine.ledger?.topics.byID.isEmpty == true })
        cluster.nodes[1].machine.addReader("a", SimulatedNode.key("a"))
        cluster.run(.seconds(2))
        cluster.checkSettled(topics: ["a"])
        #expect(cluster.problems.isEmpty)
    }
}
