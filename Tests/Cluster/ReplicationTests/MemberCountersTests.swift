import Primitives
import Testing

@testable import Replication

/// What a member counts for its operators.
struct MemberCountersTests {
    private let topics = ["a", "b", "c", "d"]

    private func cluster(nodes: Int) -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: nodes, seed: 31, loss: 0)
        for id in topics { for node in cluster.nodes { node.machine.addReader(id, SimulatedNode.key(id)) } }
        cluster.run(.seconds(4))
        return cluster
    }

    /// The only member of a cluster, which has nothing to write.
    private func idleNode() throws -> (cluster: SimulatedCluster, node: SimulatedNode) {
        let cluster = SimulatedCluster(nodes: 1, seed: 32, loss: 0)
        cluster.run(.seconds(4))
        let node = try #require(cluster.nodes.first)
        let isIdle = node.machine.isMember && node.lastWritten == node.outbox.recordsAppended
        try #require(isIdle)
        return (cluster, node)
    }

    private func counters(_ node: SimulatedNode, _ cluster: SimulatedCluster) -> MemberCounters {
        node.machine.figures(at: cluster.now).counters
    }

    private func frame(of node: SimulatedNode, _ cluster: SimulatedCluster) throws -> StoredFrame {
        node.make("p\(node.machine.position)")
        let bytes = node.machine.nextFrame(from: &node.outbox, at: cluster.now)
        return StoredFrame(position: node.machine.position + 1, bytes: try #require(bytes))
    }

    // MARK: - Frames

    @Test
    func appendTimeBeginsWithTheFirstSending() throws {
        let (cluster, node) = try idleNode()
        let before = counters(node, cluster).appendSeconds
        let frame = try frame(of: node, cluster)
        _ = node.machine.timePassed(at: cluster.now + .milliseconds(1500))
        _ = node.machine.arrived(frame, at: cluster.now + .milliseconds(1750))
        let after = counters(node, cluster).appendSeconds
        #expect(counters(node, cluster).framesRepeated > 0)
        #expect(after.count == before.count + 1)
        #expect(abs(after.sum - before.sum - 1.75) < 1e-6)
    }

    @Test
    func changesOfEachFrameAreCounted() throws {
        let (cluster, node) = try idleNode()
        let before = counters(node, cluster).frameEvents
        for id in ["x", "y", "z"] { node.make(id) }
        let frame = try frame(of: node, cluster)
        _ = node.machine.arrived(frame, at: cluster.now)
        let after = counters(node, cluster).frameEvents
        #expect(after.count == before.count + 1)
        #expect(after.sum == before.sum + 4)
        #expect(before.counts[0] > 0)
    }

    @Test
    func ignoredFramesAreCountedByTheirResults() throws {
        let (cluster, node) = try idleNode()
        let frame = try frame(of: node, cluster)
        _ = node.machine.arrived(frame, at: cluster.now)
        let before = counters(node, cluster)
        let repeated = StoredFrame(position: frame.position + 1, bytes: frame.bytes)
        _ = node.machine.arrived(repeated, at: cluster.now)
        _ = node.machine.arrived(StoredFrame(position: frame.position + 2, bytes: [0]), at: cluster.now)
        _ = node.machine.arrived(repeated, at: cluster.now)
        let after = counters(node, cluster)
        #expect(after.framesIgnoredRepeated == before.framesIgnoredRepeated + 1)
        #expect(after.framesIgnoredStale == before.framesIgnoredStale + 1)
        #expect(after.frameEvents == before.frameEvents)
    }

    @Test
    func framesThatArrivedAreNotCountedAsFetched() throws {
        let (cluster, node) = try idleNode()
        let before = counters(node, cluster).framesFetched
        let next = node.machine.position + 1
        let frames = (0..<3).map { StoredFrame(position: next + $0, bytes: [0]) }
        _ = node.machine.arrived(frames[1], at: cluster.now)
        _ = node.machine.fetched(frames, at: cluster.now)
        _ = node.machine.fetched(frames, at: cluster.now)
        #expect(counters(node, cluster).framesFetched == before + 2)
    }

    // MARK: - Members

    @Test
    func failoverIsMeasuredForSilentMembers() throws {
        let cluster = cluster(nodes: 3)
        let owner = try #require(cluster.nodes.first { !$0.carried.isEmpty })
        cluster.kill(owner)
        cluster.run(.seconds(5))
        for node in cluster.alive {
            let counters = counters(node, cluster)
            #expect(counters.membersSilent == 1 && counters.membersLeft == 0)
            #expect(counters.failoverSeconds.count == 1)
            let timings = ClusterTimings()
            #expect(counters.failoverSeconds.sum >= timings.suspect / .seconds(1))
            #expect(counters.failoverSeconds.sum < (timings.suspect + timings.rankDelay * 2) / .seconds(1))
        }
    }

    @Test
    func failoverIsNotMeasuredForMembersThatLeave() throws {
        let cluster = cluster(nodes: 3)
        let owner = try #require(cluster.nodes.first { !$0.carried.isEmpty })
        cluster.perform(owner.machine.leave(), owner)
        cluster.run(.milliseconds(300))
        cluster.kill(owner)
        cluster.run(.seconds(5))
        for node in cluster.alive {
            let counters = counters(node, cluster)
            #expect(counters.membersSilent == 0 && counters.membersLeft == 1)
            #expect(counters.failoverSeconds.count == 0)
        }
    }

    /// When it returns it reads its own removal, and that of a member which failed while it was paused.
    @Test
    func pausedMemberMeasuresNoFailover() throws {
        let cluster = cluster(nodes: 3)
        cluster.nodes[0].isPaused = true
        cluster.run(.milliseconds(500))
        cluster.kill(cluster.nodes[1])
        cluster.run(.seconds(5))
        cluster.nodes[0].isPaused = false
        cluster.run(.seconds(5))
        let (paused, other) = (counters(cluster.nodes[0], cluster), counters(cluster.nodes[2], cluster))
        #expect(paused.membersSilent == 2 && other.membersSilent == 2)
        #expect(paused.failoverSeconds.count == 0 && other.failoverSeconds.count == 2)
    }

    @Test
    func epochsAreCountedByTheirCauses() {
        let cluster = cluster(nodes: 2)
        #expect(cluster.nodes.contains { counters($0, cluster).epochsStarted == 1 })
        let next = cluster.start()
        cluster.run(.seconds(4))
        #expect(counters(next, cluster).epochsStarted == 0 && counters(next, cluster).epochsLoaded == 1)
        #expect(counters(next, cluster).epochs == 1)
    }
}

struct HistogramTests {
    @Test
    func boundsBelongToTheBucketsBelow() {
        var histogram = Histogram(bounds: [1, 2])
        for value in [0, 1, 1.5, 2, 2.5, 9] { histogram.record(value) }
        #expect(histogram.counts == [2, 2, 2])
        #expect(histogram.count == 6 && histogram.sum == 16)
    }
}
