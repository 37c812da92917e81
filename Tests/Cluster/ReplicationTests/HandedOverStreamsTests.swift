import Primitives
import Testing

@testable import Replication

struct HandedOverStreamsTests {
    private static let other: UInt64 = 5
    private let start = Moment.zero + .seconds(1)

    /// Appends what a member writes, one frame after the other.
    private func write(_ member: inout MemberMachine, _ outbox: inout Outbox) {
        while let bytes = member.nextFrame(from: &outbox, at: start) {
            let stored = StoredFrame(position: member.position + 1, bytes: bytes)
            if member.arrived(stored, at: start).contains(.openOutbox) { outbox.open() }
        }
    }

    /// Appends a frame of another member.
    private func append(_ record: ClusterRecord, counter: UInt64, to member: inout MemberMachine) {
        let frame = member.frame(of: Self.other, counter: counter, [record])
        _ = member.arrived(StoredFrame(position: member.position + 1, bytes: frame), at: start)
    }

    @Test func aStreamWhoseNewOwnerIsRemovedIsNotHandedOverAnyMore() {
        let info = MemberInfo(name: "a", version: "1", upstreams: [])
        var member = MemberMachine(info: info, seed: 1, groups: 1)
        var outbox = Outbox(limit: 1 << 20)
        _ = member.connected(at: start)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: start)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        _ = member.arrived(StoredFrame(position: 1, bytes: epoch.bytes), at: start)
        write(&member, &outbox)
        let stream = ResourceSpecification(group: "t", upstream: nil, content: [])
        _ = outbox.append(request: .stream(.prepare(id: "t", stream)))
        write(&member, &outbox)
        append(.join(info), counter: 1, to: &member)
        append(.stream(.open(id: "t")), counter: 2, to: &member)
        let handedOver = member.handedOver.openings["t"]?.owner
        #expect(handedOver == Self.other)
        // Before the other member has read that it may open the stream.
        _ = outbox.append(request: .remove(Self.other))
        write(&member, &outbox)
        let (owner, number) = (member.ledger?.specified["t"]?.owner, member.member)
        let isEmpty = member.handedOver.openings.isEmpty
        #expect(owner == number && isEmpty)
    }
}
