import Testing

@testable import GatewayCLI

@Suite struct StreamSilenceTests {
    @Test func aStreamIsLostAfterAMinute() {
        var silence = StreamSilence(isOnly: false)
        #expect(silence.limit == .seconds(60))
        // Of the default interval, after events in the meantime too.
        silence.heartbeat(after: .seconds(8))
        #expect(silence.limit == .seconds(60))
        silence.heartbeat(after: .seconds(15))
        #expect(silence.limit == .seconds(60))
    }

    @Test(arguments: [61, 119, 300, 900]) func rareHeartbeatsAreAwaited(interval: Int) {
        var silence = StreamSilence(isOnly: false)
        var losses = 0
        while silence.limit < .seconds(interval) / 2 {
            silence.exceeded()
            losses += 1
        }
        #expect(losses < 4)
        silence.heartbeat(after: .seconds(interval) / 2)
        #expect(silence.limit >= .seconds(interval))
        silence.heartbeat(after: .seconds(interval))
        #expect(silence.limit == .seconds(interval * 4))
    }

    @Test func theLimitGrowsToTenMinutes() {
        var silence = StreamSilence(isOnly: false)
        for _ in 0..<10 { silence.exceeded() }
        #expect(silence.limit == .seconds(600))
        silence.heartbeat(after: .seconds(15))
        #expect(silence.limit == .seconds(60))
    }

    @Test func aStreamThatNoneFollowsIsLostLate() {
        #expect(StreamSilence(isOnly: true).limit == .seconds(600))
    }
}
