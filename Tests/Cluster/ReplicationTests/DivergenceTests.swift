import SessionCore
import TestSupport
import Testing

@testable import Replication

/// An engine that shows other frames than those that it has acknowledged, to some members or to all.
struct DivergenceTests {
    private let topics = ["a", "b", "c", "d"]

    private func cluster(seed: UInt64) -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: 3, seed: seed, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.hold(id, SimulatedNode.key(id)) } }
        cluster.addReaders(4)
        cluster.run(.seconds(6))
        return cluster
    }

    /// Tells a lie while every member writes a frame, and runs on.
    private func lie(_ lie: EngineLie, to nodes: Set<Int>, in cluster: SimulatedCluster) -> UInt64 {
        let position = cluster.lie(lie, to: nodes)
        for node in cluster.nodes { node.machine.hold("e", SimulatedNode.key("e")) }
        cluster.run(.seconds(25))
        cluster.checkSettled(topics: topics + ["e"])
        return position
    }

    private func expectAnotherEpoch(_ cluster: SimulatedCluster, than epoch: UInt64?, seed: UInt64) {
        #expect(cluster.problems.isEmpty, "seed \(seed)")
        #expect(!cluster.divergences.isEmpty, "seed \(seed)")
        for node in cluster.alive { #expect(node.machine.ledger?.epoch != epoch, "seed \(seed)") }
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
