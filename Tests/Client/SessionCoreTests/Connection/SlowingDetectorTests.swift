internal import Testing

@testable internal import SessionCore

@Suite struct SlowingDetectorTests {
    /// Feeds pairs of (local milliseconds, server seconds).
    private static func run(_ samples: [(Int, Int)]) -> [Bool] {
        var detector = SlowingDetector()
        detector.begin()
        return samples.map { local, server in
            detector.synchronised(serverSeconds: server, at: .zero + .milliseconds(local))
        }
    }

    @Test func promptLinesAreFine() {
        #expect(Self.run((0...20).map { ($0 * 10_000, $0 * 10) }).allSatisfy { !$0 })
    }

    @Test func growingDelayIsFound() {
        #expect(Self.run([(0, 0), (10_000, 5), (25_000, 15), (40_000, 25)]) == [false, false, false, true])
    }

    @Test func oneHugeDelayIsIgnored() {
        // The machine slept for 40 s; afterwards the server's clock shows the same.
        #expect(Self.run([(0, 0), (50_000, 10), (60_000, 60), (70_000, 70)]) == [false, false, false, false])
    }

    @Test func secondHugeDelayIsNot() {
        #expect(Self.run([(0, 0), (30_000, 1), (60_000, 2)]) == [false, false, true])
    }

    @Test func lateFirstSampleCountsInTheClientsFavour() {
        #expect(Self.run([(0, 30), (10_000, 40), (26_000, 50)]) == [false, false, false])
    }
}
