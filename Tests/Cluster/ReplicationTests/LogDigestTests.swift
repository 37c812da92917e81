import TestSupport
import Testing

@testable import Replication

struct LogDigestTests {
    private static let frame = ClusterFrame(
        member: 1,
        epoch: 2,
        previous: 3,
        digest: 4,
        counter: 5,
        payload: [1, 2, 3]
    )

    /// The format is fixed: members of different builds read each other's frames.
    @Test
    func frameHasTheDocumentedBytes() {
        let header: [UInt8] = [0x4C, 2, 0x18, 0x11, 0x3A, 0x64, 0xE9, 0x5C, 0x83, 0x0E, 0]
        let fields = (1...5).flatMap { (number: UInt8) -> [UInt8] in [number, 0, 0, 0, 0, 0, 0, 0] }
        #expect(Self.frame.bytes == header + fields + [1, 2, 3])
        #expect(ClusterFrame(Self.frame.bytes) == Self.frame)
    }

    @Test
    func digestHasTheDocumentedValue() {
        var digest = LogDigest()
        digest.add(LogEntry(StoredFrame(position: 6, bytes: Self.frame.bytes)).sum, at: 6)
        #expect(digest.value == 0x20A6_D70F_2C50_F060)
    }

    /// A flipped bit of the first bytes makes the frame a foreign message; any other one makes its checksum wrong.
    @Test
    func everyFlippedBitIsNoticed() {
        let intact = LogEntry(StoredFrame(position: 1, bytes: Self.frame.bytes))
        #expect(intact.wrongSum == nil)
        for bit in 0..<Self.frame.bytes.count * 8 {
            var bytes = Self.frame.bytes
            bytes[bit / 8] ^= 1 << UInt8(bit % 8)
            let entry = LogEntry(StoredFrame(position: 1, bytes: bytes))
            let isForeign = ClusterFrame(bytes) == nil && entry.sum != intact.sum
            #expect(isForeign || entry.wrongSum != nil, "bit \(bit)")
        }
    }

    @Test
    func digestDependsOnContentOrderAndPosition() {
        func digest(_ sums: [UInt64], from position: UInt64 = 1) -> UInt64 {
            var digest = LogDigest()
            for (index, sum) in sums.enumerated() { digest.add(sum, at: position + UInt64(index)) }
            return digest.value
        }
        let values = [
            digest([1, 2, 3]), digest([2, 1, 3]), digest([1, 2, 4]), digest([1, 2]), digest([1, 2, 3], from: 2),
        ]
        #expect(Set(values).count == values.count)
    }

    @Test
    func digestsOfTheLastPositionsAreKept() {
        var digests = RecentDigests()
        digests.restart(with: LogDigest(value: 10), at: 10)
        for position in 11...5000 as ClosedRange<UInt64> { digests.append(LogDigest(value: position), at: position) }
        #expect(digests[5000]?.value == 5000 && digests[905]?.value == 905)
        #expect(digests[904] == nil && digests[5001] == nil)
        digests.restart(with: LogDigest(value: 1), at: 20)
        #expect(digests[20]?.value == 1 && digests[19] == nil && digests[21] == nil)
    }
}
