internal import SessionPool
internal import Synchronization
internal import Testing

@Suite struct WatchersTests {
    @Test func presentStateThatSatisfiesNeedsNoChange() async {
        let watchers = Watchers<Int>()
        let state = await watchers.first(present: { 7 }, where: { $0 == 7 })
        #expect(state == 7)
        #expect(watchers.isEmpty)
    }

    @Test func watcherEndsWithTheStateThatItWaitsFor() async {
        let watchers = Watchers<Int>()
        async let state = watchers.first(present: { 0 }, where: { $0 >= 2 })
        while watchers.isEmpty { await Task.yield() }
        watchers.notify(1)
        watchers.notify(2)
        #expect(await state == 2)
        #expect(watchers.isEmpty)
    }

    @Test func cancelledTaskStopsWaiting() async {
        let watchers = Watchers<Int>()
        let task = Task { await watchers.first(present: { 0 }, where: { $0 > 0 }) }
        task.cancel()
        #expect(await task.value == nil)
        #expect(watchers.isEmpty)
    }
}
