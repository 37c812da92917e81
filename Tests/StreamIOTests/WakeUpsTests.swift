import StreamIO
import Synchronization
import Testing

@Suite struct WakeUpsTests {
    private final class Sleeper: WakeUps.Sleeper {
        private let counter = Atomic(0)
        var count: Int { counter.load(ordering: .relaxed) }
        func wakeUp() { counter.wrappingAdd(1, ordering: .relaxed) }
    }

    private let first = Sleeper()
    private let second = Sleeper()

    @Test func aRequestAloneWakesAtOnce() {
        WakeUps.request(first)
        #expect(first.count == 1)
    }

    @Test func requestsOfOneActionWakeEachSleeperOnceAtItsEnd() {
        WakeUps.together {
            for _ in 0..<3 {
                WakeUps.request(first)
                WakeUps.together { WakeUps.request(second) }
            }
            #expect(first.count == 0 && second.count == 0)
        }
        #expect(first.count == 1 && second.count == 1)
        WakeUps.request(second)
        #expect(second.count == 2)
    }
}
