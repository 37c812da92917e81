internal import Testing

@testable internal import DemoServer

struct DeadlineQueueTests {
    @Test func deadlinesComeInOrderAndEachKeyOnce() {
        var queue = DeadlineQueue<String>()
        queue.set("a", at: .seconds(3))
        queue.set("b", at: .seconds(1))
        queue.set("c", at: .seconds(1))
        queue.set("a", at: .seconds(2))
        queue.cancel("c")
        let earliest = queue.earliest
        let tooEarly = queue.popDue(by: .milliseconds(999))?.key
        let due = [queue.popDue(by: .seconds(9))?.key, queue.popDue(by: .seconds(9))?.key]
        let rest = queue.earliest
        #expect(earliest == .seconds(1) && tooEarly == nil && due == ["b", "a"] && rest == nil)
        for round in 0..<10_000 { queue.set("k\(round % 7)", at: .seconds(10_000 - round)) }
        var last = Duration.zero
        var count = 0
        while let due = queue.popDue(by: .seconds(20_000)) {
            #expect(due.time >= last)
            last = due.time
            count += 1
        }
        #expect(count == 7)
    }
}
