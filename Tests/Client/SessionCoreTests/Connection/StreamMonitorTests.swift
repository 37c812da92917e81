internal import Testing

@testable internal import SessionCore

extension StreamMonitor {
    /// A line arrives, as `SessionMachine` reports it. Returns the time until the next check if it ends a stall.
    fileprivate mutating func lineReceived(at now: Moment) -> Duration? {
        lastLine = now
        return phase == .stalled ? stallEnded() : nil
    }
}

@Suite struct StreamMonitorTests {
    private static func at(_ milliseconds: Int) -> Moment { .zero + .milliseconds(milliseconds) }

    private static func fire(_ monitor: inout StreamMonitor, _ milliseconds: Int) -> StreamMonitor.TimerResult? {
        monitor.timerFired(
            at: at(milliseconds),
            stalledTimeout: .milliseconds(2000),
            reconnectTimeout: .milliseconds(3000)
        )
    }

    @Test func silencePassesItsThreeStages() {
        var monitor = StreamMonitor()
        let first = monitor.begin(keepalive: .milliseconds(5000), at: Self.at(0))
        #expect(first == .milliseconds(5000))
        let second = Self.fire(&monitor, 5000)
        #expect(second == .wait(.milliseconds(2000)))
        let third = Self.fire(&monitor, 7000)
        #expect(third == .stalled(.milliseconds(3000)))
        let fourth = Self.fire(&monitor, 10_000)
        #expect(fourth == .lost)
        let fifth = Self.fire(&monitor, 11_000)
        #expect(fifth == nil)
    }

    @Test func linesAreNoticedWhenTheTimerFires() {
        var monitor = StreamMonitor()
        _ = monitor.begin(keepalive: .milliseconds(5000), at: Self.at(0))
        let first = monitor.lineReceived(at: Self.at(1000))
        #expect(first == nil)
        let second = monitor.lineReceived(at: Self.at(4000))
        #expect(second == nil)
        let third = Self.fire(&monitor, 5000)
        #expect(third == .wait(.milliseconds(4000)))
        let fourth = Self.fire(&monitor, 9000)
        #expect(fourth == .wait(.milliseconds(2000)))
        let fifth = monitor.lineReceived(at: Self.at(9500))
        #expect(fifth == nil)
        let sixth = Self.fire(&monitor, 11_000)
        #expect(sixth == .wait(.milliseconds(3500)))
    }

    @Test func longSilenceSinceALineInTheQuietTimeIsCountedFromThatLine() {
        var monitor = StreamMonitor()
        _ = monitor.begin(keepalive: .milliseconds(1000), at: Self.at(0))
        let first = Self.fire(&monitor, 1000)
        #expect(first == .wait(.milliseconds(2000)))
        let second = monitor.lineReceived(at: Self.at(1100))
        #expect(second == nil)
        // 1900 ms without a line: the keepalive expired 900 ms ago.
        let third = Self.fire(&monitor, 3000)
        #expect(third == .wait(.milliseconds(1100)))
        let fourth = Self.fire(&monitor, 4100)
        #expect(fourth == .stalled(.milliseconds(3000)))
    }

    @Test func lineAtTheMomentOfTheExpiryIsNoSilence() {
        var monitor = StreamMonitor()
        _ = monitor.begin(keepalive: .milliseconds(5000), at: Self.at(0))
        let first = Self.fire(&monitor, 5000)
        #expect(first == .wait(.milliseconds(2000)))
        _ = monitor.lineReceived(at: Self.at(5000))
        let second = Self.fire(&monitor, 7000)
        #expect(second == .wait(.milliseconds(3000)))
        let third = Self.fire(&monitor, 10_000)
        #expect(third == .wait(.milliseconds(2000)))
    }

    @Test func lineEndsAStallAtOnce() {
        var monitor = StreamMonitor()
        _ = monitor.begin(keepalive: .milliseconds(1000), at: Self.at(0))
        _ = Self.fire(&monitor, 1000)
        _ = Self.fire(&monitor, 3000)
        let first = monitor.lineReceived(at: Self.at(3500))
        #expect(first == .milliseconds(1000))
        let second = monitor.lineReceived(at: Self.at(3600))
        #expect(second == nil)
    }

    @Test func withoutKeepaliveThereIsNoSupervision() {
        var monitor = StreamMonitor()
        let first = monitor.begin(keepalive: .zero, at: Self.at(0))
        #expect(first == nil)
        let second = Self.fire(&monitor, 100_000)
        #expect(second == nil)
        _ = monitor.begin(keepalive: .milliseconds(1000), at: Self.at(0))
        monitor.end()
        let third = Self.fire(&monitor, 100_000)
        #expect(third == nil)
    }
}
