import Primitives
import Testing

@testable import Replication

/// Heartbeats that the engine delivers again.
struct RepeatedHeartbeatTests {
    private func cluster() -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: 3, seed: 1, loss: 0)
        cluster.run(.seconds(4))
        return cluster
    }

    /// A heartbeat that a node sends now.
    private func heartbeat(of node: SimulatedNode, _ cluster: SimulatedCluster) -> Heartbeat {
        Heartbeat(
            process: node.machine.process,
            member: node.machine.member,
            epoch: node.machine.ledger?.epoch ?? 0,
            position: node.machine.position,
            sentAt: cluster.now,
            configuration: 0
        )
    }

    @Test
    func repeatedHeartbeatsDoNotKeepASilentMember() {
        let cluster = cluster()
        let recorded = heartbeat(of: cluster.nodes[2], cluster)
        cluster.kill(cluster.nodes[2])
        for _ in 0..<20 {
            cluster.run(.milliseconds(500))
            for node in cluster.alive { cluster.perform(node.machine.heard(recorded, at: cluster.now), node) }
        }
        cluster.checkSettled(topics: [])
        #expect(cluster.problems.isEmpty)
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.members.count == 2 })
    }

    @Test
    func repeatedOwnHeartbeatDoesNotHideASilentConnection() {
        let cluster = cluster()
        let node = cluster.nodes[0]
        let (recorded, connection) = (heartbeat(of: node, cluster), node.connection)
        cluster.hold(node)
        for _ in 0..<12 {
            cluster.run(.milliseconds(500))
            cluster.perform(node.machine.heard(recorded, at: cluster.now), node)
        }
        #expect(node.connection > connection)
    }

    @Test
    func onlyNewerHeartbeatsOfAProcessAreNew() {
        let cluster = cluster()
        let node = cluster.nodes[0]
        var other = heartbeat(of: cluster.nodes[1], cluster)
        var areNew = [node.machine.isNew(other)]
        _ = node.machine.heard(other, at: cluster.now)
        areNew.append(node.machine.isNew(other))
        other.sentAt = other.sentAt + .milliseconds(1)
        areNew.append(node.machine.isNew(other))
        other.sentAt = .zero
        areNew.append(node.machine.isNew(other))
        #expect(areNew == [true, false, true, false])
    }
}
