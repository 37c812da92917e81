internal import Testing

@testable internal import SessionCore

@Suite struct RetryBackoffTests {
    @Test func delayStaysForTenIncreasesThenDoublesToAMinute() {
        var backoff = RetryBackoff(delay: .seconds(4))
        var delays: [Duration] = []
        for _ in 0..<16 {
            backoff.increase()
            delays.append(backoff.delay)
        }
        #expect(
            delays == Array(repeating: .seconds(4), count: 10) + [8, 16, 32, 60, 60, 60].map { Duration.seconds($0) }
        )
        backoff.reset(to: .seconds(2))
        #expect(backoff.delay == .seconds(2))
    }

    @Test func longDelayNeverGrows() {
        var backoff = RetryBackoff(delay: .seconds(90))
        for _ in 0..<20 { backoff.increase() }
        #expect(backoff.delay == .seconds(90))
    }
}
