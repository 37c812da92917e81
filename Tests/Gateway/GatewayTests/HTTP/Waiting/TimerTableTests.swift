import SessionCore
import Synchronization
import Testing

@testable import Gateway

@Suite struct TimerTableTests {
    private func moment(_ seconds: Int64) -> Moment { Moment(nanoseconds: seconds * 1_000_000_000) }

    @Test func actionsAreTakenInTheOrderOfTheirTime() {
        var table = TimerTable<String>()
        _ = table.add("c", at: moment(3))
        _ = table.add("a", at: moment(1))
        _ = table.add("b", at: moment(2))
        _ = table.add("b2", at: moment(2))
        #expect(table.next == moment(1))
        #expect(table.take(dueBy: moment(2)) == ["a", "b", "b2"])
        #expect(table.take(dueBy: moment(2)).isEmpty)
        #expect(table.takeAll() == ["c"])
        #expect(table.next == nil)
    }

    @Test func aCancelledActionIsNotTaken() {
        var table = TimerTable<String>()
        let first = table.add("a", at: moment(1))
        let second = table.add("b", at: moment(1))
        table.remove(first)
        table.remove(first)
        #expect(table.take(dueBy: moment(9)) == ["b"])
        table.remove(second)
        #expect(table.next == nil)
    }

    /// Long polls add timers that are removed long before they are due.
    @Test func theOthersStayInOrderWhenManyAreCancelled() {
        var table = TimerTable<Int>()
        let ids = (0..<1000).map { table.add($0, at: moment(Int64($0 % 10))) }
        for (index, id) in ids.enumerated() where index % 7 != 3 { table.remove(id) }
        let left = ids.indices.filter { $0 % 7 == 3 }
        #expect(table.actions.count == left.count)
        #expect(table.next == moment(0))
        let due = table.take(dueBy: moment(4))
        #expect(due == left.filter { $0 % 10 <= 4 }.sorted { ($0 % 10, $0) < ($1 % 10, $1) })
        #expect(table.next == moment(5))
        #expect(table.takeAll() == left.filter { $0 % 10 > 4 }.sorted { ($0 % 10, $0) < ($1 % 10, $1) })
        #expect(table.next == nil && table.actions.count == 0)
    }
}

@Suite struct TimerQueueTests {
    /// A limit of time that has not ended when the gateway stops has not ended: only requests that wait get responses.
    @Test func stopRunsTheActionsOfWaitingRequestsOnly() {
        let queue = TimerQueue(clock: { .zero })
        let actions = Mutex<[String]>([])
        queue.schedule(after: .seconds(2)) { actions.withLock { $0.append("response") } }
        queue.schedule(after: .seconds(1), runsAtStop: false) { actions.withLock { $0.append("limit") } }
        queue.stop()
        #expect(actions.withLock { $0 } == ["response"])
        queue.schedule(after: .seconds(2)) { actions.withLock { $0.append("late response") } }
        queue.schedule(after: .seconds(1), runsAtStop: false) { actions.withLock { $0.append("late limit") } }
        #expect(actions.withLock { $0 } == ["response", "late response"])
    }
    /// The system keeps the memory of an interrupted sleep until its end: sleeps of hours piled up.
    @Test(arguments: [nil, .seconds(86_400)] as [Duration?])
    func theQueueSleepsForAMinuteAtMost(next: Duration?) async {
        let queue = TimerQueue(clock: { .zero })
        if let next { queue.schedule(after: next, runsAtStop: false) {} }
        let running = Task { await queue.run() }
        var end: Moment?
        while end == nil {
            await Task.yield()
            end = queue.state.withLock { $0.sleep?.until }
        }
        #expect(end == .zero + .seconds(60))
        queue.stop()
        await running.value
    }
}
