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

@Suite struct ResponseTimeoutTests {
    @Test func timeoutGrowsFromTheTenthExpiryOn() {
        var timeout = ResponseTimeout(base: .seconds(4))
        for _ in 0..<9 { timeout.expired() }
        #expect(timeout.value(for: .auto) == .seconds(4))
        var values: [Duration] = []
        for _ in 0..<5 {
            timeout.expired()
            values.append(timeout.value(for: .auto))
        }
        #expect(values == [8, 16, 32, 60, 60].map { Duration.seconds($0) })
        timeout.reset()
        #expect(timeout.current == .seconds(4))
    }

    @Test func overloadSetsItToItsMaximum() {
        var timeout = ResponseTimeout(base: .seconds(4))
        timeout.serverOverloaded()
        #expect(timeout.value(for: .auto) == .seconds(60))
        var long = ResponseTimeout(base: .seconds(100))
        long.serverOverloaded()
        #expect(long.current == .seconds(100))
    }

    @Test func fixedValueIsNotTouched() {
        var timeout = ResponseTimeout(base: .seconds(4))
        timeout.serverOverloaded()
        #expect(timeout.value(for: .seconds(7)) == .seconds(7))
        timeout.rebase(to: .seconds(5))
        #expect(timeout.value(for: .auto) == .seconds(5))
    }
}
