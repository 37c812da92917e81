internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct NegotiationTests {
    @Test func bandwidthLimitsAreRequestedOneAtATime() {
        var bandwidth = BandwidthNegotiation()
        bandwidth.begin(with: .unlimited)
        let first = bandwidth.next()
        #expect(first == nil)
        bandwidth.option = .limited(3)
        let second = bandwidth.next()
        #expect(second == .limited(3))
        bandwidth.option = .limited(4)
        let third = bandwidth.next()
        #expect(third == nil)
        bandwidth.answered(isAccepted: true)
        bandwidth.option = .limited(3)
        let fourth = bandwidth.next()
        #expect(fourth == nil)
        let isAnswer = bandwidth.confirmed(.unmanaged)
        #expect(isAnswer)
        bandwidth.option = .limited(4)
        let fifth = bandwidth.next()
        #expect(fifth == nil)
        let isAnswerAgain = bandwidth.confirmed(.limited(3))
        #expect(!isAnswerAgain)
        let sixth = bandwidth.next()
        #expect(sixth == .limited(4))
    }

    @Test func heartbeatIntervalFollowsDeclarationAndOption() {
        var out = SessionOutput()
        var heartbeat = ReverseHeartbeat(option: .seconds(5))
        #expect(heartbeat.interval == nil)
        heartbeat.declare(.zero)
        heartbeat.begin(at: .zero, &out)
        #expect(heartbeat.interval == .seconds(5))
        heartbeat.optionChanged(to: .zero, at: .zero, &out)
        #expect(heartbeat.interval == nil)
        heartbeat.optionChanged(to: .seconds(5), at: .zero, &out)
        heartbeat.declare(.seconds(4))
        #expect(heartbeat.interval == .seconds(4))
        heartbeat.optionChanged(to: .seconds(3), at: .zero, &out)
        #expect(heartbeat.interval == .seconds(3))
        heartbeat.optionChanged(to: .zero, at: .zero, &out)
        #expect(heartbeat.interval == .seconds(4))
        heartbeat.optionChanged(to: .seconds(3), at: .zero, &out)
        heartbeat.end(&out)
        #expect(heartbeat.interval == nil)
    }

    @Test func runningHeartbeatTimerIsShortenedButNotExtended() {
        var out = SessionOutput()
        var heartbeat = ReverseHeartbeat(option: .seconds(5))
        heartbeat.begin(at: .zero, &out)
        heartbeat.optionChanged(to: .seconds(9), at: .zero + .seconds(1), &out)
        heartbeat.optionChanged(to: .seconds(2), at: .zero + .seconds(1), &out)
        heartbeat.optionChanged(to: .seconds(2), at: .zero + .seconds(2), &out)
        heartbeat.requestSent(at: .zero + .seconds(2), &out)
        heartbeat.optionChanged(to: .zero, at: .zero + .seconds(2), &out)
        heartbeat.requestSent(at: .zero + .seconds(2), &out)
        let timers = (1...3).map { SessionTimer(purpose: .heartbeat, generation: $0) }
        #expect(
            out.actions == [
                .scheduleTimer(timers[0], after: .seconds(5)),
                .cancelTimer(timers[0]), .scheduleTimer(timers[1], after: .seconds(2)),
                .cancelTimer(timers[1]), .scheduleTimer(timers[2], after: .seconds(2)),
                .cancelTimer(timers[2]),
            ]
        )
    }

    @Test func transportSwitchIsRequestedThenGranted() {
        var change = TransportSwitch.none
        change.answered(isAccepted: true)
        #expect(change == .none)
        change = .asked(cause: "slow")
        change.answered(isAccepted: true)
        #expect(change == .granted(cause: "slow"))
        #expect(change.cause == "slow")
        change = .asked(cause: nil)
        change.answered(isAccepted: false)
        #expect(change == .none)
    }

    @Test func versionsGoDownToTheOldest() {
        var fallback = VersionFallback(.current)
        fallback.creating(at: "http://a")
        var seen = [fallback.current.description]
        while fallback.refused() { seen.append(fallback.current.description) }
        #expect(seen == ["2.5.0", "2.4.0", "2.3.0", "2.2.0", "2.1.0"])
        #expect(fallback.current == .current)
        _ = fallback.refused()
        fallback.creating(at: "http://a")
        #expect(fallback.current.description == "2.4.0")
        fallback.creating(at: "http://b")
        #expect(fallback.current == .current)
    }

    @Test func optionTimesAreHeldInBounds() {
        #expect(Duration(optionSeconds: -1) == .zero)
        #expect(Duration(optionSeconds: .nan) == .zero)
        #expect(Duration(optionSeconds: .infinity) == .seconds(315_360_000))
        #expect(Duration(optionSeconds: 0.25).wholeMilliseconds == 250)
        #expect(Duration.milliseconds(1500).optionSeconds == 1.5)
        #expect(Duration.milliseconds(100).randomShare(random: 0) == .zero)
        #expect(Duration.milliseconds(100).randomShare(random: 0.999_999) == .milliseconds(100))
        #expect(Duration.milliseconds(100).randomShare(random: 2) == .milliseconds(100))
        #expect(Duration.seconds(2).remaining(after: .seconds(3)) == .zero)
    }
}
