internal import Synchronization
internal import Testing

@testable internal import SessionPool

@Suite struct WatchersTests {
    /// A state, and the states that a watcher has seen.
    private final class Seen: Sendable {
        let state = Mutex(0)
        private let states = Mutex<[Int]>([])
        var all: [Int] { states.withLock { $0 } }

        func look() -> Int {
            let state = state.withLock { $0 }
            states.withLock { $0.append(state) }
            return state
        }
    }

    private let watchers = Watchers()
    private let seen = Seen()

    private func watch(until state: Int) -> UInt64? { watchers.add { [seen] in seen.look() >= state } }

    private func change(to state: Int) {
        seen.state.withLock { $0 = state }
        watchers.notify()
    }

    @Test func presentStateThatSatisfiesNeedsNoChange() {
        change(to: 7)
        #expect(watch(until: 7) == nil)
        #expect(watchers.isEmpty && seen.all == [7])
    }

    @Test func watchEndsWithTheStateThatSatisfies() {
        #expect(watch(until: 2) != nil)
        for state in 1...3 { change(to: state) }
        #expect(watchers.isEmpty && seen.all == [0, 1, 2])
    }

    @Test func cancelledWatchSeesNoFurtherState() throws {
        let handle = try #require(watch(until: 2))
        watchers.cancel(handle)
        change(to: 1)
        #expect(watchers.isEmpty && seen.all == [0])
    }
}
