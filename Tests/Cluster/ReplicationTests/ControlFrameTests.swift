import Primitives
import Testing

@testable import Replication

/// The frames of a member whose own records do not fit into one.
struct ControlFrameTests {
    private let start = Moment.zero + .seconds(1)

    /// A member at the beginning of an epoch, with a reader of each of these items.
    private func member(reading items: [String]) -> MemberMachine {
        var member = MemberMachine(
            info: MemberInfo(name: "a", version: "1", upstreams: ["demo"]),
            seed: 1,
            groups: 1
        )
        for (index, item) in items.enumerated() { member.addReader("s\(index)", SimulatedNode.key(item)) }
        _ = member.connected(at: start)
        _ = member.logInspected(LogGeneration(created: "g", first: 1, last: 0), at: start)
        let epoch = ClusterFrame(kind: .epoch, member: 9, epoch: 7, previous: 0, digest: 0, counter: 0, payload: [1])
        _ = member.arrived(StoredFrame(position: 1, bytes: epoch.bytes), at: start)
        return member
    }

    /// Appends what a member writes, one frame after the other; returns the frames.
    private func write(_ member: inout MemberMachine) -> [ClusterFrame] {
        var (frames, outbox): ([ClusterFrame], Outbox) = ([], Outbox(limit: 1 << 20))
        while let bytes = member.nextFrame(from: &outbox, at: start), let frame = ClusterFrame(bytes) {
            frames.append(frame)
            let stored = StoredFrame(position: UInt64(frames.count) + 1, bytes: bytes)
            if member.arrived(stored, at: start).contains(.openOutbox) { outbox.open() }
        }
        return frames
    }

    /// NATS refuses a frame of 1 MiB, each time that it is sent.
    @Test(arguments: [(1_000, 1, 4), (20, 10_000, 4), (2, 300_000, 5)])
    func interestsOfAJoiningMemberAreDividedIntoFrames(count: Int, length: Int, expected: Int) {
        let items = (0..<count).map { String(repeating: "i", count: length) + "\($0)" }
        var member = member(reading: items)
        let frames = write(&member)
        #expect(frames.map(\.counter) == Array(1...UInt64(expected)))
        #expect(frames.allSatisfy { $0.bytes.count < 300 << 10 })
        let (number, topics) = (member.member, member.ledger?.topics.byID ?? [:])
        #expect(topics.count == count)
        for (index, item) in items.enumerated() {
            let (topic, isReady) = (topics["s\(index)"], member.isReady("s\(index)"))
            #expect(topic?.key == SimulatedNode.key(item) && topic?.interested == [number] && isReady)
        }
    }

    /// A removal that was decided earlier might be about a member that sends heartbeats again.
    @Test
    func removalIsInTheNextFrame() {
        var (writer, outbox) = (FrameWriter(), Outbox(limit: 1 << 10))
        writer.control = (0..<300).map { .removeInterest(id: "s\($0)") }
        writer.remove(5)
        let payload = writer.takeRecords(true, from: &outbox) ?? []
        #expect(payload.starts(with: ClusterRecord.remove(5).encoded))
        #expect(writer.control.count == 45)
    }
}
