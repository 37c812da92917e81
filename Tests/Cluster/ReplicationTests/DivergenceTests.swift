import SessionCore
import TestSupport
import Testing

@testable import Replication

/// An engine that shows other frames than those that it has acknowledged, to some members or to all.
struct DivergenceTests {
    private let topics = ["a", "b", "c", "d"]

    private func cluster(seed: UInt64) -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.addReaders(4)
        cluster.run(.seconds(6))
        return cluster
    }

    /// Tells a lie while every member writes a frame, and runs on.
    private func lie(_ lie: EngineLie, to nodes: Set<Int>, in cluster: SimulatedCluster) -> UInt64 {
        let position = cluster.lie(lie, to: nodes)
        for node in cluster.nodes { node.machine.addReader("e", SimulatedNode.key("e")) }
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics + ["e"])
        return position
    }

    private func expectAnotherEpoch(_ cluster: SimulatedCluster, than epoch: UInt64?, seed: UInt64) {
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(!cluster.divergences.isEmpty, "seed \(seed)")
        for node in cluster.alive { #expect(node.machine.ledger?.epoch != epoch, "seed \(seed)") }
    }

    /// Several members notice that the log has lost its newest frames, one after the other: one epoch begins.
    @Test(arguments: [16, 19, 21] as [UInt64])
    func membersThatNoticeAnotherLogBeginOneEpoch(seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epochs = cluster.epochs
        cluster.rollBack(by: 20)
        cluster.run(.seconds(15))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.epochs.count == epochs.count + 1, "seed \(seed)")
    }

    @Test(arguments: EngineLie.allCases, 0..<6 as Range<UInt64>)
    func everyLieOfTheEngineToOneMemberBeginsAnEpoch(lie: EngineLie, seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        _ = self.lie(lie, to: [Int(seed % 3)], in: cluster)
        expectAnotherEpoch(cluster, than: epoch, seed: seed)
    }

    /// All members read the same bytes, which are not those that were appended.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func everyLieOfTheEngineThatDamagesAFrameBeginsAnEpoch(seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        _ = lie(.flippedBit, to: [0, 1, 2], in: cluster)
        expectAnotherEpoch(cluster, than: epoch, seed: seed)
    }

    /// The connections stay open, and the positions are used again for other frames.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func everyLieOfTheEngineThatLosesItsTailBeginsAnEpoch(seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.rollBack(by: 3)
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics)
        expectAnotherEpoch(cluster, than: epoch, seed: seed)
    }

    /// The writer appends its frame again, so that nothing is missing.
    @Test(arguments: [EngineLie.otherFrame, .emptyFrame, .otherOrder], 0..<2 as Range<UInt64>)
    func lieToAllMembersLeavesNeitherHolesNorRepetitions(lie: EngineLie, seed: UInt64) {
        let cluster = cluster(seed: seed)
        _ = self.lie(lie, to: [0, 1, 2], in: cluster)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.readers.flatMap(\.problems) == [], "seed \(seed)")
    }

    /// A member cannot read a frame that others have read, or that nobody reads.
    @Test(arguments: [[2], [0, 2], [0, 1, 2]] as [Set<Int>], 5..<7 as Range<UInt64>)
    func lostFrameInTheMiddleOfTheLogEndsNoMember(nodes: Set<Int>, seed: UInt64) {
        let cluster = cluster(seed: seed)
        cluster.loseNextFrame(for: nodes)
        cluster.run(.seconds(20))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.readers.flatMap(\.problems) == [], "seed \(seed)")
    }

    /// The end of the log grows again differently, and some members can still read what was there before.
    @Test(arguments: [[], [2], [0, 2]] as [Set<Int>], 0..<2 as Range<UInt64>)
    func replacedEndOfTheLogBeginsAnEpoch(nodes: Set<Int>, seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.rollBack(by: 3, hiddenFrom: nodes)
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics)
        expectAnotherEpoch(cluster, than: epoch, seed: seed)
    }

    /// The log is created anew under its name, and no connection notices it. The new log is shorter than what a member
    /// remembers of the former one, or longer.
    @Test(arguments: [10, 100])
    func logThatIsCreatedAnewBeginsAnEpoch(seconds: Int) {
        let cluster = cluster(seed: 4)
        cluster.run(.seconds(seconds))
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.empty()
        cluster.run(.seconds(30))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch != epoch })
        #expect(cluster.readers.flatMap(\.problems) == [])
    }

    /// No connection notices that the log is deleted: the frames in flight do not arrive.
    @Test(arguments: 0..<3 as Range<UInt64>)
    func deletedLogIsMadeAgain(seed: UInt64) {
        let cluster = cluster(seed: seed)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.deleteLog()
        cluster.run(.seconds(40))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch != epoch }, "seed \(seed)")
    }

    /// The frame with which it begins an epoch does not arrive.
    @Test
    func logThatIsDeletedWhileAMemberLoadsIsMadeAgain() {
        let cluster = SimulatedCluster(nodes: 1, seed: 1, loss: 0)
        cluster.run(.milliseconds(100))
        cluster.deleteLog()
        cluster.run(.seconds(15))
        let isMember = cluster.nodes[0].machine.isMember
        #expect(isMember)
    }

    /// The log is inspected meanwhile, and is the same.
    @Test
    func memberThatLoadsFromASlowEngineContinues() {
        let cluster = SimulatedCluster(nodes: 1, seed: 1, loss: 0)
        let node = cluster.nodes[0]
        node.losesAppends = true
        cluster.run(.seconds(3))
        let beginning = beginning(by: node)
        cluster.run(.seconds(5))
        #expect(beginning != nil && self.beginning(by: node) == beginning)
    }

    /// The frame by which a loading member begins an epoch.
    private func beginning(by node: SimulatedNode) -> [UInt8]? {
        if case .loading(let loading) = node.machine.phase { loading.beginning } else { nil }
    }

    /// The engine does not respond while its servers elect a leader.
    @Test
    func onlyAMemberThatMissesSomethingNeedsTheResultOfAnInspection() {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        _ = node.machine.inspectLog()
        let slow = node.machine.inspectionFailed(isMissing: false)
        _ = node.machine.inspectLog()
        let missing = node.machine.inspectionFailed(isMissing: true)
        _ = node.machine.connected(at: cluster.now)
        let first = node.machine.inspectionFailed(isMissing: false)
        #expect(slow == [])
        #expect(missing == [.reconnect(isLogMissing: true)] && first == [.reconnect(isLogMissing: false)])
    }

    /// A member without anything to write notices it in no other way.
    @Test
    func memberInspectsTheLogIfOthersAreInAnotherEpoch() {
        let cluster = cluster(seed: 5)
        let node = cluster.nodes[0]
        var other = Heartbeat(process: 1, member: 2, epoch: 3, position: 4, sentAt: cluster.now, configuration: 0)
        let first = node.machine.heard(other, at: cluster.now)
        other.sentAt = cluster.now + ClusterTimings().silence
        let later = node.machine.heard(other, at: other.sentAt)
        #expect(!first.contains(.inspectLog) && later.contains(.inspectLog))
    }

    /// Nobody writes a frame afterwards, by which it would be noticed as well.
    @Test(arguments: 0..<3 as Range<UInt64>)
    func olderCopyOfAQuietLogBeginsAnEpoch(seed: UInt64) {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: 0)
        cluster.run(.seconds(4))
        cluster.nodes[0].make("p")
        cluster.run(.seconds(2))
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        cluster.stopEngine()
        cluster.rollBack(by: 1)
        cluster.startEngine()
        cluster.run(.seconds(10))
        #expect(cluster.nodes.allSatisfy { $0.machine.ledger?.epoch != epoch }, "seed \(seed)")
        cluster.checkSettled(topics: [])
        cluster.checkResources(["p"])
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    /// The log went back to the position of one member, while others had read further, which connect later, or not at all: their
    /// servers did not stop.
    @Test(arguments: 0..<4 as Range<UInt64>, [0, 300, nil])
    func positionsThatOtherMembersHaveReadAreNotUsedAgain(seed: UInt64, milliseconds: Int?) {
        let cluster = cluster(seed: seed)
        let behind = cluster.nodes[0]
        let epoch = behind.machine.ledger?.epoch
        cluster.hold(behind)
        behind.make("p")
        cluster.run(.milliseconds(200))
        if let milliseconds {
            cluster.stopEngine()
            for node in cluster.nodes[1...] { node.connectsAfter = cluster.now + .milliseconds(milliseconds) }
        } else {
            // They write nothing either, so that only their heartbeats tell.
            for node in cluster.nodes[1...] { node.losesAppends = true }
            cluster.run(.milliseconds(100))
            cluster.disconnect(behind)
        }
        cluster.rollBack(by: cluster.frameCount - Int(behind.machine.position))
        cluster.startEngine()
        for _ in 0..<30 {
            cluster.run(.milliseconds(50))
            cluster.check()
        }
        for node in cluster.nodes { node.losesAppends = false }
        cluster.run(.seconds(20))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch != epoch }, "seed \(seed)")
    }

    /// The log went back while the member was paused, and has as many frames again when the member continues.
    @Test(arguments: 0..<3 as Range<UInt64>)
    func memberDoesNotServeFromAnotherLogOfEqualLength(seed: UInt64) {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: 0)
        cluster.run(.seconds(4))
        let (paused, other) = (cluster.nodes[2], cluster.nodes[0])
        func lengthen(to position: UInt64) {
            while other.hub.position < position {
                other.make("\(other.hub.epoch) \(other.hub.position)")
                cluster.run(.milliseconds(300))
            }
        }
        lengthen(to: other.hub.position + 40)
        paused.isPaused = true
        let (epoch, position) = (paused.hub.epoch, paused.hub.position)
        cluster.stopEngine()
        cluster.rollBack(by: 35)
        cluster.startEngine()
        cluster.run(.seconds(10))
        #expect(other.hub.epoch != epoch && other.hub.position < position, "seed \(seed)")
        lengthen(to: position)
        #expect(other.hub.position == position, "seed \(seed)")
        paused.isPaused = false
        for _ in 0..<300 {
            cluster.run(.milliseconds(10))
            #expect(!paused.machine.isServing(at: cluster.now) || paused.hub.epoch != epoch, "seed \(seed)")
        }
        #expect(paused.machine.isServing(at: cluster.now) && paused.hub.epoch == other.hub.epoch, "seed \(seed)")
    }

    /// The log of the new epoch gets the stream from its former owner, unless the new one has deleted it.
    @Test(arguments: [false, true])
    func streamOpenedByAMemberThatDoesNotReadItBeforeAnEpochIsKept(isDeleted: Bool) {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        cluster.nodes[0].prepare("p")
        cluster.run(.seconds(1))
        if !isDeleted { cluster.loseNextFrame(for: [1]) }
        cluster.nodes[1].open("p")
        cluster.run(.milliseconds(100))
        #expect(cluster.nodes[0].machine.ledger?.specified["p"]?.owner == cluster.nodes[1].machine.member)
        if isDeleted { cluster.nodes[1].remove("p") }
        cluster.run(.milliseconds(100))
        cluster.stopEngine()
        cluster.empty()
        cluster.startEngine()
        cluster.run(.seconds(10))
        if isDeleted { #expect(cluster.nodes.allSatisfy { $0.streams.isEmpty }) } else { cluster.checkStreams(["p"]) }
        #expect(cluster.problems.isEmpty)
    }

    /// The new owner reads other bytes at the position of its opening: that it has read the position is no proof.
    @Test(arguments: [EngineLie.otherFrame, .emptyFrame])
    func streamOpenedByAMemberThatReadsAnotherFrameBeforeAnEpochIsKept(lie: EngineLie) {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        cluster.nodes[0].prepare("p")
        cluster.run(.seconds(1))
        cluster.lie(lie, to: [1])
        cluster.nodes[1].open("p")
        cluster.run(.milliseconds(700))
        cluster.stopEngine()
        cluster.empty()
        cluster.startEngine()
        cluster.run(.seconds(10))
        cluster.checkStreams(["p"])
        #expect(cluster.problems.isEmpty)
    }

    /// Nobody writes a frame afterwards: the heartbeats have the digests.
    @Test(arguments: [EngineLie.otherFrame, .emptyFrame])
    func quietMembersNoticeThatTheyHaveReadAnotherFrame(lie: EngineLie) {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        cluster.lie(lie, to: [1])
        cluster.nodes[0].make("p")
        cluster.run(.seconds(10))
        #expect(cluster.divergences.contains { $0.member != nil })
        cluster.checkSettled(topics: [])
        cluster.checkResources(["p"])
        #expect(cluster.problems.isEmpty)
    }

    /// Appended again after a long time, they are ignored.
    @Test(arguments: 0..<3 as Range<UInt64>)
    func repeatedFramesHaveNoEffect(seed: UInt64) {
        let cluster = cluster(seed: seed)
        let (epoch, gaps) = (cluster.nodes[0].machine.ledger?.epoch, cluster.readers.map(\.gaps))
        cluster.repeatFrames(2..<40)
        cluster.run(.seconds(5))
        cluster.repeatFrames(cluster.frameCount - 30..<cluster.frameCount - 10)
        cluster.run(.seconds(10))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty && cluster.divergences.isEmpty, "seed \(seed)")
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch == epoch }, "seed \(seed)")
        #expect(cluster.readers.map(\.gaps) == gaps, "seed \(seed)")
    }

    /// A member that has lost its connection reads the log from a server that is behind.
    @Test(arguments: [[1], [0, 1], [0, 1, 2]] as [Set<Int>])
    func staleServerLeavesNeitherHolesNorRepetitions(nodes: Set<Int>) {
        let cluster = cluster(seed: 3)
        cluster.answerFromStaleServer(nodes)
        cluster.run(.seconds(2))
        for node in nodes { cluster.disconnect(cluster.nodes[node]) }
        cluster.run(.seconds(8))
        cluster.endStaleness()
        cluster.run(.seconds(20))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        #expect(cluster.readers.flatMap(\.problems) == [])
    }

    /// Frames that arrive behind the missing ones are no reason to ask again at once: the engine would be asked as fast as it
    /// replies. Nor is an engine that refuses to deliver frames, as one whose log is no longer read by position.
    @Test(arguments: [(true, 40, 60), (false, 900, 1100)])
    func framesThatTheEngineDoesNotDeliverAreFetchedWithPauses(isMissing: Bool, tooEarly: Int, inTime: Int) throws {
        let cluster = cluster(seed: 3)
        let (node, now) = (cluster.nodes[1], cluster.now)
        let (created, last) = (try #require(node.machine.inspections.created), node.machine.position + 2)
        let generation = LogGeneration(created: created, first: 1, last: last)
        let arrived = node.machine.arrived(StoredFrame(position: last, bytes: []), at: now)
        let failed = node.machine.fetchFailed(isMissing: isMissing, at: now)
        let inspected = node.machine.logInspected(generation, at: now)
        let early = node.machine.timePassed(at: now + .milliseconds(tooEarly))
        let due = node.machine.timePassed(at: now + .milliseconds(inTime))
        #expect([arrived, failed, inspected, early, due].map(fetches) == [true, false, false, false, true])
        #expect(failed == [.inspectLog])
        // What is in flight was sent just now.
        #expect(isMissing || !inspected.contains { if case .append = $0 { true } else { false } })
    }

    /// The missing frame arrives by itself, and another one is missing: it may be the removal of this member.
    @Test
    func memberThatPausesKnowsThatFramesAreMissing() {
        let cluster = cluster(seed: 3)
        let (node, now) = (cluster.nodes[1], cluster.now)
        let first = node.machine.position + 1
        func arrived(_ position: UInt64) {
            _ = node.machine.arrived(StoredFrame(position: position, bytes: []), at: now)
        }
        arrived(first + 1)
        _ = node.machine.fetchFailed(isMissing: false, at: now)
        arrived(first)
        let isSettled = node.machine.isSettled
        arrived(first + 3)
        let (isSettledLater, later) = (node.machine.isSettled, now + .milliseconds(100))
        let ownsSessions = node.machine.ownsSessions(at: later)
        #expect(isSettled && !isSettledLater && !ownsSessions)
        let early = node.machine.timePassed(at: later)
        let due = node.machine.timePassed(at: now + .milliseconds(1100))
        #expect([early, due].map(fetches) == [false, true])
    }

    /// A request that had no reply for as long is followed by the next one at once.
    @Test
    func frameRequestedLongAgoIsFetchedAtOnce() throws {
        let cluster = cluster(seed: 3)
        let (node, now) = (cluster.nodes[1], cluster.now)
        let (created, last) = (try #require(node.machine.inspections.created), node.machine.position + 2)
        _ = node.machine.arrived(StoredFrame(position: last, bytes: []), at: now)
        let later = now + .seconds(3)
        _ = node.machine.fetchFailed(isMissing: false, at: later)
        let inspected = node.machine.logInspected(LogGeneration(created: created, first: 1, last: last), at: later)
        #expect(fetches(inspected))
    }

    /// A member that cannot read its own frame does not append it as fast as the engine replies.
    @Test
    func frameInFlightIsRepeatedWithPausesWhileItIsMissing() {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        let count = cluster.frameCount
        cluster.loseNextFrame(for: [1])
        cluster.nodes[1].make("p")
        cluster.run(.milliseconds(2500))
        #expect(2...5 ~= cluster.frameCount - count)
    }

    /// Requests that wait for it would wait until the others find its former number silent.
    @Test
    func memberThatEntersAgainRemovesItsFormerNumber() {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        let (node, former) = (cluster.nodes[1], cluster.nodes[1].machine.member)
        cluster.loseNextFrame(for: [1])
        cluster.nodes[0].make("p")
        for _ in 0..<1000 where node.machine.member == former || !node.machine.isMember {
            cluster.run(.milliseconds(10))
        }
        #expect(node.machine.isMember && node.machine.member != former)
        #expect(node.machine.ledger?.members.count == 3)
    }

    private func fetches(_ actions: [MemberAction]) -> Bool {
        actions.contains { if case .fetch = $0 { true } else { false } }
    }

    @Test
    func divergenceNamesThePositionTheDigestsAndTheOtherMember() throws {
        let cluster = cluster(seed: 1)
        let position = lie(.otherFrame, to: [0], in: cluster)
        let first = try #require(cluster.divergences.first)
        #expect(first.own != first.other)
        #expect(first.member != nil && first.position >= position)
    }

    @Test
    func truthfulEngineIsNotAccused() {
        let cluster = cluster(seed: 2)
        cluster.run(.seconds(20))
        #expect(cluster.divergences.isEmpty && cluster.problems.isEmpty)
    }
}
