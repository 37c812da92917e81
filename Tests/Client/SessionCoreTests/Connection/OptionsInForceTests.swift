internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct OptionsInForceTests {
    @Test func grantReplacesWhatTheUserHasNotSetSinceTheRequest() {
        var options = OptionsInForce(ConnectionOptionValues())
        let first = options.granted(.keepaliveInterval, .seconds(5))
        #expect(first == .keepaliveInterval(5))
        let second = options.granted(.keepaliveInterval, .seconds(5))
        #expect(second == nil)
        var values = options.values
        values.keepaliveInterval = 3
        _ = options.set(values)
        let third = options.granted(.keepaliveInterval, .seconds(5))
        #expect(third == nil)
        #expect(options.values.keepaliveInterval == 3)
        let request = options.streaming()
        #expect(request == .streaming(keepaliveMillis: 3000, inactivityMillis: nil, sendsSync: true))
        let fourth = options.granted(.keepaliveInterval, .seconds(5))
        #expect(fourth == .keepaliveInterval(5))
    }

    @Test func pollingIntervalOfTheUserIsKeptUntilThePollIsWritten() {
        var options = OptionsInForce(ConnectionOptionValues())
        var values = options.values
        values.pollingInterval = 2
        _ = options.set(values)
        #expect(options.pollingInterval(granted: .seconds(1)) == .seconds(2))
        _ = options.polling()
        #expect(options.pollingInterval(granted: .seconds(1)) == .seconds(1))
        _ = options.granted(.pollingInterval, .seconds(1))
        #expect(options.isOwn(pollingInterval: .seconds(2)))
        #expect(!options.isOwn(pollingInterval: .seconds(1)))
    }

    @Test func grantCountsUpToAnHourOrTheTimeAskedFor() {
        var options = OptionsInForce(ConnectionOptionValues())
        let years = options.granted(.idleTimeout, .milliseconds(Int.max))
        #expect(years == .idleTimeout(3600))
        #expect(options.pollingInterval(granted: .milliseconds(Int.max)) == .seconds(3600))
        var values = options.values
        values.keepaliveInterval = 7200
        _ = options.set(values)
        _ = options.streaming()
        let asked = options.granted(.keepaliveInterval, .seconds(7200))
        #expect(asked == nil)
        #expect(options.limited(.keepaliveInterval, .seconds(7201)) == .seconds(7200))
    }

    @Test func timeoutIsShownWhereTheLibraryChoosesIt() {
        var options = OptionsInForce(ConnectionOptionValues())
        let first = options.serverOverloaded()
        #expect(first == .currentConnectTimeout(60))
        #expect(options.responseTime == .seconds(60))
        let second = options.resetResponseTime()
        #expect(second == .currentConnectTimeout(4))
        var values = options.values
        values.connectTimeout = .seconds(7)
        _ = options.set(values)
        let third = options.serverOverloaded()
        #expect(third == nil)
        #expect(options.responseTime == .seconds(7))
    }

    @Test func shownTimeoutIsTheOneInForceAfterAFixedOne() {
        var options = OptionsInForce(ConnectionOptionValues())
        _ = options.serverOverloaded()
        var values = options.values
        values.connectTimeout = .seconds(7)
        _ = options.set(values)
        let whileFixed = options.resetResponseTime()
        #expect(whileFixed == nil)
        values.connectTimeout = .auto
        _ = options.set(values)
        #expect(options.values.currentConnectTimeout == 60)
        #expect(options.responseTime == .seconds(60))
        let afterwards = options.resetResponseTime()
        #expect(afterwards == .currentConnectTimeout(4))
        #expect(options.responseTime == .seconds(4))
    }
}
