import Primitives
import TestSupport
import Testing

@testable import Replication

/// Members of builds that read different formats. Format 4 has the records of format 2; the log has no format 3.
struct FormatTests {
    private let topics = ["a", "b", "c"]
    private static let old = Formats(2, 2)
    private static let both = Formats(2, 4)
    private static let new = Formats(4, 4)

    private func hold(_ node: SimulatedNode) {
        for id in topics { node.machine.addReader(id, SimulatedNode.key(id)) }
    }

    private func cluster(_ formats: [Formats], seed: UInt64, loss: Int = 0, readers: Int = 0) -> SimulatedCluster {
        let cluster = SimulatedCluster(nodes: 0, seed: seed, loss: loss)
        for formats in formats { hold(cluster.start(formats)) }
        cluster.run(.seconds(5))
        cluster.addReaders(readers)
        cluster.run(.seconds(3))
        return cluster
    }

    private func leave(_ node: SimulatedNode, _ cluster: SimulatedCluster) {
        cluster.perform(node.machine.leave(), node)
        cluster.run(.milliseconds(200))
        cluster.kill(node)
    }

    /// Each node is replaced by one with other formats, as soon as that one serves.
    private func replaceAll(by formats: Formats, in cluster: SimulatedCluster) {
        for node in cluster.alive {
            let next = cluster.start(formats)
            hold(next)
            for _ in 0..<500 where !next.machine.isServing(at: cluster.now) { cluster.run(.milliseconds(10)) }
            leave(node, cluster)
        }
    }

    private static let clusters: [([Formats], UInt8)] = [
        ([old, old], 2), ([old, both], 2), ([both, both], 4), ([both, new], 4), ([new, new], 4),
    ]

    @Test(arguments: clusters)
    func membersWriteTheNewestFormatThatAllOfThemRead(formats: [Formats], expected: UInt8) {
        let cluster = cluster(formats, seed: 1)
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
        #expect(cluster.lastFormat == expected)
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func eventsSurviveUpgradesThroughNeighbouringFormats(seed: UInt64) {
        let cluster = cluster([Self.old, Self.old, Self.old], seed: seed, loss: Int(seed) * 5, readers: 6)
        let epoch = cluster.alive[0].machine.ledger?.epoch
        for formats in [Self.both, Self.new] {
            replaceAll(by: formats, in: cluster)
            // Joining members read the recent events from a log of one format.
            cluster.run(.seconds(60))
            #expect(cluster.lastFormat == formats.newest, "seed \(seed)")
        }
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty && cluster.refused.isEmpty, "seed \(seed)")
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch == epoch }, "seed \(seed)")
        #expect(cluster.readers.flatMap(\.problems) == [], "seed \(seed)")
        #expect(cluster.readers.allSatisfy { $0.resumed > 0 }, "seed \(seed)")
    }

    /// The log has recent frames that the older members cannot read: their readers get a gap, and no wrong event.
    @Test(arguments: 0..<4 as Range<UInt64>)
    func clusterGoesBackToTheFormerFormat(seed: UInt64) {
        let cluster = cluster([Self.both, Self.both, Self.both], seed: seed, loss: Int(seed) * 5, readers: 6)
        let epoch = cluster.alive[0].machine.ledger?.epoch
        replaceAll(by: Self.old, in: cluster)
        cluster.run(.seconds(8))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty && cluster.refused.isEmpty && cluster.lastFormat == 2, "seed \(seed)")
        #expect(cluster.alive.allSatisfy { $0.machine.ledger?.epoch == epoch }, "seed \(seed)")
        #expect(cluster.readers.allSatisfy { $0.problems.isEmpty }, "seed \(seed)")
    }

    @Test(arguments: [(old, new), (new, old)])
    func processWithoutACommonFormatIsRefusedAndChangesNothing(members: Formats, other: Formats) {
        let cluster = cluster([members, members], seed: 2)
        let epoch = cluster.nodes[0].machine.ledger?.epoch
        let refused = cluster.start(other)
        hold(refused)
        cluster.run(.seconds(20))
        let isServing = refused.machine.isServing(at: cluster.now)
        #expect(!isServing && cluster.refused == [refused.number])
        #expect(cluster.nodes[0].machine.ledger?.epoch == epoch && cluster.lastFormat == members.newest)
        // It serves once the other members are gone.
        for node in cluster.nodes where node !== refused { leave(node, cluster) }
        cluster.run(.seconds(10))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty)
    }

    /// Both would share a format with the members, but not with each other.
    @Test(arguments: 0..<8 as Range<UInt64>)
    func oneOfTwoProcessesWithoutACommonFormatJoins(seed: UInt64) {
        let cluster = cluster([Self.both, Self.both], seed: seed)
        let (old, new) = (cluster.start(Self.old), cluster.start(Self.new))
        hold(old)
        hold(new)
        cluster.run(.seconds(20))
        let serving = [old, new].filter { $0.machine.isServing(at: cluster.now) }
        #expect(serving.count == 1, "seed \(seed)")
        #expect(cluster.refused.contains(serving[0] === old ? new.number : old.number), "seed \(seed)")
        cluster.kill(serving[0] === old ? new : old)
        cluster.run(.seconds(5))
        cluster.checkSettled(topics: topics)
        #expect(cluster.problems.isEmpty, "seed \(seed)")
    }

    /// A frame of a newer format that is in the log after the `join` of an older member is void, and is written again.
    @Test
    func frameThatANewMemberDoesNotReadIsWrittenAgain() throws {
        var member = MemberMachine(
            info: MemberInfo(name: "a", version: "1", upstreams: []),
            seed: 1,
            groups: 1,
            formats: Self.both
        )
        var outbox = Outbox(limit: 1 << 20)
        let start = Moment.zero + .seconds(1)
        _ = member.connected(at: start)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: start)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        _ = member.arrived(StoredFrame(position: 1, bytes: epoch.bytes), at: start)
        let join = try #require(member.nextFrame(from: &outbox, at: start))
        #expect(ClusterFrame(join)?.format == 4)
        _ = member.arrived(StoredFrame(position: 2, bytes: join), at: start)
        outbox.open()
        _ = outbox.append(request: .removeInterest(id: "x"))
        let written = try #require(member.nextFrame(from: &outbox, at: start))
        var info = MemberInfo(name: "b", version: "1", upstreams: [])
        info.formats = Self.old
        let other = ClusterFrame(
            format: 2,
            member: 5,
            epoch: 7,
            previous: 2,
            digest: member.ledger?.digest.value ?? 0,
            counter: 1,
            payload: ClusterRecord.join(info).encoded[...]
        )
        // The members have not heard of it before, so its frame has a format that they read.
        _ = member.arrived(StoredFrame(position: 3, bytes: other.bytes), at: start)
        let ledger = member.ledger
        #expect(ledger?.members.count == 2 && ledger?.formats == Self.old)
        let actions = member.arrived(StoredFrame(position: 4, bytes: written), at: start)
        guard case .append(let again)? = actions.last, let frame = ClusterFrame(again) else {
            Issue.record("not written again")
            return
        }
        #expect(frame.format == 2 && frame.payload == ClusterFrame(written)?.payload)
        let read = member.arrived(StoredFrame(position: 5, bytes: again), at: start)
        #expect(read.contains(.written(1)))
    }
}
