import SessionCore
import Synchronization
import Testing

@testable import Gateway

@Suite struct WatchdogTests {
    private func at(_ seconds: Int) -> Moment { .zero + .seconds(seconds) }

    @Test func aThreadThatDoesNotComeRoundIsNamed() {
        let watchdog = Watchdog()
        let counter = Counter()
        watchdog.watch {
            [Watchdog.Subject(name: "one", rounds: 7), Watchdog.Subject(name: "two", rounds: counter.value)]
        }
        watchdog.check(at: at(0))
        counter.add()
        #expect(watchdog.stalled(for: .seconds(10), at: at(11)) == ["one"])
        #expect(watchdog.stalled(for: .seconds(10), at: at(10)) == [])
        watchdog.check(at: at(5))
        #expect(watchdog.stalled(for: .seconds(10), at: at(16)) == ["one", "two"])
        counter.add()
        #expect(watchdog.stalled(for: .seconds(10), at: at(16)) == ["one"])
    }

    @Test func probesLookAtTheSubjectsOnlyIfOneMayBeStalled() {
        let watchdog = Watchdog()
        let looks = Counter()
        watchdog.watch {
            looks.add()
            return [Watchdog.Subject(name: "one", rounds: 7), Watchdog.Subject(name: "idle", rounds: nil)]
        }
        watchdog.check(at: at(0))
        for second in 1...10 { #expect(watchdog.stalled(for: .seconds(10), at: at(second)).isEmpty) }
        #expect(looks.value == 1)
        #expect(watchdog.stalled(for: .seconds(10), at: at(11)) == ["one"])
        #expect(looks.value == 2)
    }

    @Test func aTaskWithoutWorkIsNotStalled() {
        let watchdog = Watchdog()
        watchdog.watch { [Watchdog.Subject(name: "idle", rounds: nil)] }
        watchdog.check(at: at(0))
        #expect(watchdog.stalled(for: .seconds(1), at: at(100)).isEmpty)
    }

    @Test func theProcessIsNotAliveWhileAThreadIsStalled() {
        let fixture = Fixture { $0.stallTimeout = .seconds(1) }
        #expect(fixture.perform("GET", "/health/live").status == 200)
        fixture.services.process.watchdog.watch { [Watchdog.Subject(name: "HTTP thread 0", rounds: 1)] }
        fixture.services.process.watchdog.check(at: fixture.services.clock() - .seconds(2))
        let stalled = fixture.perform("GET", "/health/live")
        #expect(stalled.status == 503)
        #expect(stalled.json["detail"]?.string?.contains("HTTP thread 0") == true)
        let off = Fixture { $0.stallTimeout = .zero }
        off.services.process.watchdog.watch { [Watchdog.Subject(name: "HTTP thread 0", rounds: 1)] }
        off.services.process.watchdog.check(at: off.services.clock() - .seconds(2))
        #expect(off.perform("GET", "/health/live").status == 200)
    }

    private final class Counter: Sendable {
        private let count = Mutex<UInt64>(0)
        var value: UInt64 { count.withLock { $0 } }
        func add() { count.withLock { $0 += 1 } }
    }
}
