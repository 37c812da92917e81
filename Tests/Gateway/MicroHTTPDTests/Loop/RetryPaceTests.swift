internal import Primitives
internal import Testing

@testable internal import MicroHTTPD

@Suite struct RetryPaceTests {
    @Test(arguments: [(0, 1_100), (100, 1_100), (2_000, 138)])
    func runsBeyondABurstHaveAPace(microseconds: Int, expected: Int) {
        var pace = RetryPace()
        let start = Moment.zero + .seconds(1)
        var runs = 0
        // Asked every 10 microseconds for a second.
        for step in 0..<100_000 {
            let now = start + .microseconds(10 * step)
            guard pace.permits(at: now) else { continue }
            pace.note(at: now, duration: .microseconds(microseconds))
            runs += 1
        }
        #expect(runs == expected)
    }

    @Test func aPauseAllowsAnotherBurst() {
        var pace = RetryPace()
        let start = Moment.zero + .seconds(1)
        for _ in 0...100 { pace.note(at: start, duration: .zero) }
        #expect(!pace.permits(at: start))
        #expect(pace.permits(at: start + .milliseconds(1)))
        for _ in 0...100 {
            #expect(pace.permits(at: start + .seconds(1)))
            pace.note(at: start + .seconds(1), duration: .zero)
        }
        #expect(!pace.permits(at: start + .seconds(1)))
    }

    @Test func runsThatDoNothingComeAtLongerIntervals() {
        var pace = RetryPace()
        var now = Moment.zero + .seconds(1)
        var runs = 0
        func run(for time: Duration, isIdle: Bool) {
            runs = 0
            let end = now + time
            while now < end {
                if pace.permits(at: now) {
                    pace.note(at: now, duration: .zero, isIdle: isIdle)
                    runs += 1
                    #expect(pace.permits(at: now) || pace.wait(at: now) <= .milliseconds(100))
                }
                now = now + .microseconds(100)
            }
        }
        run(for: .seconds(1), isIdle: true)
        #expect((100...120).contains(runs))
        run(for: .seconds(10), isIdle: true)
        #expect((95...105).contains(runs))
        // An event: at once, and with the short interval again.
        pace.reset(at: now)
        #expect(pace.permits(at: now))
        run(for: .milliseconds(50), isIdle: false)
        #expect((45...55).contains(runs))
        run(for: .seconds(10), isIdle: true)
        #expect((190...210).contains(runs))
    }
}
