internal import LightstreamerTesting
internal import SessionCore
internal import Synchronization
internal import Testing

@testable internal import LightstreamerClient

@Suite(.timeLimit(.minutes(1))) struct DriverPaceTests {
    private func slice(_ lines: [String]) -> Int { DriverPace.slice(of: lines.map { Array($0.utf8)[...] }[...]) }

    @Test func aLineWithADiffIsHandledAlone() {
        #expect(slice(["U,1,1,a|^3|b", "U,1,1,c", "U,1,1,^Tabc", "U,1,1,d"]) == 2)
        #expect(slice(["U,1,1,^Tabc", "U,1,1,c"]) == 1)
        #expect(slice(["U,1,1,a|^^P[]", "U,1,1,c"]) == 1)
        #expect(slice(["U,1,1,^", "U,1,1,b^", ""]) == 3)
    }

    @Test func aSliceHasABound() {
        #expect(slice(Array(repeating: "U,1,1,a", count: 100)) == DriverPace.longestSlice.lines)
        #expect(slice(Array(repeating: String(repeating: "a", count: 40_000), count: 10)) == 2)
        #expect(slice([]) == 0)
    }

    @Test func aDriverPausesBetweenLinesThatTakeLong() async throws {
        let clock = PausingClock()
        let fixture = try ClientFixture { $0.clock = clock }
        let link = try await fixture.connected()
        let subscription = try Subscription(mode: .merge, item: "i", fields: ["f"])
        try fixture.client.subscribe(subscription)
        _ = await link.heard()
        link.say("SUBOK,1,1,1", "U,1,1,abc")
        _ = await fixture.words(until: "update 1 abc")
        let before = clock.pauses
        fixture.client.addObserver(SlowObserver(clock: clock.stepped))
        link.say("U,1,1,^Tdbd", "U,1,1,^Tebe", "U,1,1,^Tfbf")
        _ = await fixture.words(until: "update 1 abcdef")
        link.say("PROBE", "U,1,1,end")
        _ = await fixture.words(until: "update 1 end")
        #expect(clock.pauses - before >= 3)
        await fixture.client.shutdown()
    }

    @Test func aDisconnectDoesNotWaitForLinesThatTakeLong() async throws {
        let clock = PausingClock()
        let fixture = try ClientFixture { $0.clock = clock }
        let link = try await fixture.connected()
        try fixture.client.subscribe(try Subscription(mode: .merge, item: "i", fields: ["f"]))
        _ = await link.heard()
        link.say("SUBOK,1,1,1", "U,1,1,abc")
        _ = await fixture.words(until: "update 1 abc")
        fixture.client.addObserver(SlowObserver(clock: clock.stepped))
        clock.atNextPause { [client = fixture.client] in client.disconnect() }
        link.say("U,1,1,^Tdbd", "U,1,1,^Tebe", "U,1,1,^Tfbf")
        link.say("U,1,1,^Tgbg")
        let words = await fixture.words(until: "status DISCONNECTED")
        #expect(words.filter { $0.hasPrefix("update") } == ["update 1 abcd"])
        // The lines of the next session are handled.
        _ = try await fixture.connected()
        await fixture.client.shutdown()
    }

    @Test func aDriverDoesNotWaitForAManualClockThatHasMoved() async throws {
        let clock = ManualClock()
        let fixture = try ClientFixture { $0.clock = clock }
        let link = try await fixture.connected()
        try fixture.client.subscribe(try Subscription(mode: .merge, item: "i", fields: ["f"]))
        _ = await link.heard()
        fixture.client.addObserver(SlowObserver(clock: clock))
        link.say("SUBOK,1,1,1", "U,1,1,abc", "U,1,1,^Tdbd", "U,1,1,^Tebe")
        _ = await fixture.words(until: "update 1 abcde")
        link.say("PROBE", "U,1,1,end")
        _ = await fixture.words(until: "update 1 end")
        await fixture.client.shutdown()
    }

    @Test func aCancelledTaskDoesNotWaitForATimer() async {
        let clock = ManualClock()
        let waiting = Task { await clock.timerIsSet() }
        waiting.cancel()
        await waiting.value
    }

    /// Takes the time of a turn for each update.
    private final class SlowObserver: ClientObserver, Sendable {
        let observesSubscriptions = true
        private let clock: ManualClock

        init(clock: ManualClock) { self.clock = clock }

        func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
            if case .subscription(_, .update) = event { clock.pass(DriverPace.turn) }
        }
    }

    /// A manual clock that counts pauses, and can call a closure in the next one.
    private final class PausingClock: ClientClock {
        let stepped = ManualClock()
        private let count = Mutex(0)
        private let call = Mutex<(@Sendable () -> Void)?>(nil)

        var pauses: Int { count.withLock { $0 } }

        func atNextPause(_ body: @escaping @Sendable () -> Void) { call.withLock { $0 = body } }

        func now() -> Moment { stepped.now() }

        func random() -> Double { 0 }

        func schedule(after delay: Duration, _ body: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            stepped.schedule(after: delay, body)
        }

        func pause(_ body: @escaping @Sendable () -> Void) {
            count.withLock { $0 += 1 }
            call.withLock { call in
                defer { call = nil }
                return call
            }?()
            body()
        }
    }
}
