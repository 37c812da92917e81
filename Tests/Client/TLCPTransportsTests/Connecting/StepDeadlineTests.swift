internal import NIOCore
internal import NIOEmbedded
internal import Synchronization
internal import Testing

@testable internal import TLCPTransports

@Suite struct StepDeadlineTests {
    private final class Counter: Sendable {
        let count = Atomic(0)
    }

    @Test func timeStandsStillWhilePaused() {
        let loop = EmbeddedEventLoop()
        let expired = Counter()
        let deadline = StepDeadline(on: loop, after: .seconds(10)) { expired.count.add(1, ordering: .relaxed) }
        loop.advanceTime(by: .seconds(4))
        deadline.pause()
        loop.advanceTime(by: .seconds(100))
        #expect(expired.count.load(ordering: .relaxed) == 0)
        deadline.resume()
        loop.advanceTime(by: .seconds(5))
        #expect(expired.count.load(ordering: .relaxed) == 0)
        loop.advanceTime(by: .seconds(1))
        #expect(expired.count.load(ordering: .relaxed) == 1)
    }

    @Test func cancelledDeadlineDoesNotResume() {
        let loop = EmbeddedEventLoop()
        let expired = Counter()
        let deadline = StepDeadline(on: loop, after: .seconds(10)) { expired.count.add(1, ordering: .relaxed) }
        deadline.pause()
        deadline.cancel()
        deadline.resume()
        loop.advanceTime(by: .seconds(100))
        #expect(expired.count.load(ordering: .relaxed) == 0)
    }
}
