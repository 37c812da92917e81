import Primitives
import Testing

@testable import Replication

struct LogReaderTests {
    /// The limit is 64 MiB, and other messages may wait as well.
    @Test
    func fetchOfTheLargestFramesKeepsTheConnectionToTheEngine() throws {
        var reader = LogReader()
        reader.restart(after: 7, known: 10_000)
        let gap = reader.gapToFetch(after: .zero, always: true, at: .zero)
        let range = try #require(gap)
        #expect(range.lowerBound == 8)
        #expect(range.count * Outbox.partSize <= 32 << 20)
    }

    /// Frames of other clients may be larger than those of members: the engine then closes the connection of a member that
    /// fetches as many.
    @Test
    func requestsAfterOneWithoutAReplyAreSmaller() {
        var reader = LogReader()
        reader.restart(after: 7, known: 10_000)
        func fetched(_ reader: inout LogReader, isReplied: Bool) -> Int? {
            defer { reader.fetchEnded(isReplied: isReplied) }
            return reader.gapToFetch(after: .zero, always: true, at: .zero)?.count
        }
        let counts = [false, true, true, true].map { fetched(&reader, isReplied: $0) }
        #expect(counts == [128, 16, 17, 18])
        for _ in 0..<200 { _ = fetched(&reader, isReplied: true) }
        let last = fetched(&reader, isReplied: true)
        // The end of a request that was not made changes nothing.
        reader.fetchEnded(isReplied: false)
        let afterwards = fetched(&reader, isReplied: true)
        #expect(last == 128 && afterwards == 128)
    }

    /// Any client of the engine can repeat frames at positions that the log does not have yet.
    @Test
    func framesAfterAGapAreLimitedInSize() {
        var reader = LogReader()
        reader.restart(after: 7)
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        let accepted = (UInt64(9)...100).map { reader.arrived(StoredFrame(position: $0, bytes: bytes)) }
        #expect(accepted.count { $0 } == 64)
        let isNextAccepted = reader.arrived(StoredFrame(position: 8, bytes: bytes))
        while reader.next() != nil {}
        let isLaterAccepted = reader.arrived(StoredFrame(position: 74, bytes: bytes))
        #expect(isNextAccepted && isLaterAccepted && reader.position == 72)
    }

    /// Frames beyond a gap would otherwise let each fetch add one frame.
    @Test
    func fetchedFramesTakeThePlaceOfLaterOnes() {
        var reader = LogReader()
        reader.restart(after: 7)
        let bytes = [UInt8](repeating: 1, count: 1 << 20)
        for position in UInt64(20)...100 { _ = reader.arrived(StoredFrame(position: position, bytes: bytes)) }
        let accepted = (UInt64(8)...19).map { reader.arrived(StoredFrame(position: $0, bytes: bytes)) }
        while reader.next() != nil {}
        // 64 MiB are the frames from 8 to 71: those from 72 on made room.
        #expect(accepted.allSatisfy(\.self) && reader.position == 71)
    }
}
