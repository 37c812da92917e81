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
}
