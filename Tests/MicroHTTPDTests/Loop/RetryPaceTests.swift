internal import StreamIO
internal import Testing

@testable internal import MicroHTTPD

@Suite struct RetryPaceTests {
    @Test func runsBeyondABurstHaveAPace() {
        var pace = RetryPace()
        let start = Moment.zero + .seconds(1)
        var runs = 0
        // Asked every 10 microseconds for a second.
        for step in 0..<100_000 {
            let now = start + .microseconds(10 * step)
            guard pace.permits(at: now) else { continue }
            pace.note(at: now)
            runs += 1
        }
        #expect(runs == 1_100)
        let end = start + .seconds(1)
        #expect(pace.permits(at: end))
        pace.note(at: end)
        #expect(!pace.permits(at: end))
        #expect(pace.permits(at: end + .milliseconds(1)))
    }
}
