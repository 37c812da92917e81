internal import Primitives
internal import Testing

@Suite struct LockRankTests {
    @Test func locksAreTakenInTheOrderOfTheirRanks() {
        let turn = RankedMutex(1, rank: .loopTurn)
        let pool = RankedMutex(2, rank: .sharedSubscription)
        let hub = RankedMutex(3, rank: .hub)
        for _ in 0..<2 {
            let sum = turn.withLock { turn in pool.withLock { pool in hub.withLock { hub in turn + pool + hub } } }
            #expect(sum == 6)
        }
        #expect(hub.withLock { _ in turn.withLockIfAvailable { $0 } } == 1)
    }

    @Test func lockTakenUnderAHigherRankStopsADebugBuild() async {
        await #expect(processExitsWith: .failure) {
            let pool = RankedMutex(0, rank: .sharedSubscription)
            let hub = RankedMutex(0, rank: .hub)
            hub.withLock { _ in pool.withLock { _ in } }
        }
    }

    @Test func lockTakenUnderTheSameRankStopsADebugBuild() async {
        await #expect(processExitsWith: .failure) {
            let first = RankedMutex(0, rank: .hub)
            let second = RankedMutex(0, rank: .hub)
            first.withLock { _ in second.withLock { _ in } }
        }
    }
}
