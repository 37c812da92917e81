import Primitives
import Testing

@testable import Replication

/// Positions that are not those of the log: the engine's headers and replies are not authenticated.
struct ForgedPositionTests {
    private static let positions: [UInt64] = [
        UInt64.max, UInt64.max - 1, 1 << 63, 1 << 63 - 1, 1 << 48, LogReader.greatestPosition,
        LogReader.greatestPosition - 1,
    ]

    @Test(arguments: positions)
    func frameOfAForgedPositionEndsNothing(position: UInt64) {
        let cluster = SimulatedCluster(nodes: 2, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        let node = cluster.nodes[0]
        let frame = StoredFrame(position: position, bytes: [1])
        cluster.perform(node.machine.arrived(frame, at: cluster.now), node)
        cluster.perform(node.machine.fetched([frame], at: cluster.now), node)
        cluster.run(.seconds(6))
        #expect(cluster.nodes.allSatisfy { $0.machine.isMember })
        // No frames are awaited that the log does not have.
        #expect(cluster.nodes.allSatisfy { $0.machine.isSettled && $0.machine.reader.gap == nil })
    }

    @Test(arguments: positions)
    func logOfAForgedExtentEndsNothing(position: UInt64) {
        for first in [1, position] {
            let cluster = SimulatedCluster(nodes: 2, seed: 1, loss: 0)
            cluster.run(.seconds(4))
            let node = cluster.nodes[0]
            for created in ["1", "another"] {
                let generation = LogGeneration(created: created, first: first, last: position)
                cluster.perform(node.machine.logInspected(generation, at: cluster.now), node)
                let next = StoredFrame(position: LogReader.greatestPosition, bytes: [1])
                cluster.perform(node.machine.arrived(next, at: cluster.now), node)
                cluster.run(.seconds(1))
            }
        }
    }

    @Test func readerEndsAtTheGreatestPosition() {
        var reader = LogReader()
        let last = LogReader.greatestPosition
        reader.restart(after: last - 1, known: .max)
        reader.reaches(.max)
        #expect(reader.known == last && reader.gap == last...last)
        let accepted = [last + 1, .max, last].map { reader.arrived(StoredFrame(position: $0, bytes: [])) }
        #expect(accepted == [false, false, true])
        let next = [reader.next()?.position, reader.next()?.position]
        #expect(next == [last, nil] && reader.gap == nil)
        reader.restart(after: .max)
        #expect(reader.position == last && reader.known == last && reader.gap == nil)
    }
}
