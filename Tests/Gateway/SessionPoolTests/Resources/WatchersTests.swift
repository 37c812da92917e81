internal import Synchronization
internal import Testing

@testable internal import SessionPool

@Suite struct WatchersTests {
    private final class Seen: Sendable {
        private let states = Mutex<[Int]>([])
        var all: [Int] { states.withLock { $0 } }
        func add(_ state: Int) { states.withLock { $0.append(state) } }
    }

    private let watchers = Watchers<Int>()
    private let seen = Seen()

    private func watch(from present: Int, until state: Int) -> UInt64? {
        watchers.add(present: { present }) { [seen] in
            seen.add($0)
            return $0 >= state
        }
    }

    @Test func presentStateThatSatisfiesNeedsNoChange() {
        #expect(watch(from: 7, until: 7) == nil)
        #expect(watchers.isEmpty && seen.all == [7])
    }

    @Test func watchEndsWithTheStateThatSatisfies() {
        #expect(watch(from: 0, until: 2) != nil)
        for state in 1...3 { watchers.notify(state) }
        #expect(watchers.isEmpty && seen.all == [0, 1, 2])
    }

    @Test func cancelledWatchSeesNoFurtherState() throws {
        let handle = try #require(watch(from: 0, until: 2))
        watchers.cancel(handle)
        watchers.notify(1)
        #expect(watchers.isEmpty && seen.all == [0])
    }
}
