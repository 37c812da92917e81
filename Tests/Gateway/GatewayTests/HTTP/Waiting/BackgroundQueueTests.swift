import Dispatch
import MicroHTTPD
import Primitives
import Testing

@testable import Gateway
@testable import SessionPool

@Suite struct BackgroundQueueTests {
    private let queues = BackgroundQueues()
    private var queue: BackgroundQueue { queues.large }

    /// Keeps the queue busy until the returned gate is opened.
    private func occupy() -> DispatchSemaphore {
        let (begun, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let isAdded = queue.add {
            begun.signal()
            gate.wait()
        }
        #expect(isAdded)
        begun.wait()
        return gate
    }

    @Test func callersTakeTurns() async {
        let gate = occupy()
        let (order, source) = AsyncStream.makeStream(of: String.self)
        for caller in ["a", "a", "a", "b", "b"] {
            let isAdded = queue.add(for: caller) { source.yield(caller) }
            #expect(isAdded)
        }
        gate.signal()
        var callers: [String] = []
        for await caller in order.prefix(5) { callers.append(caller) }
        #expect(callers == ["a", "b", "a", "b", "a"])
    }

    @Test func largeWorkContinuesOnTheQueue() async throws {
        let call = Call(record: CallRecord(HTTPRequest(method: "GET", rawPath: "/"), requestID: "", since: .zero))
        let awaited = Awaited<Int>()
        let (steps, source) = AsyncStream.makeStream(of: String.self)
        let task = Task {
            try await queues.perform(for: call) { () throws -> Bool in
                source.yield("begun")
                _ = try await awaited.value
                source.yield("continued")
                return withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
            }
        }
        var order = steps.makeAsyncIterator()
        #expect(await order.next() == "begun")
        let gate = occupy()
        let isAdded = queue.add(for: "other") { source.yield("other") }
        awaited.end(.success(1))
        gate.signal()
        // At the turn of the caller, which comes after the other work.
        #expect(await order.next() == "other")
        #expect(await order.next() == "continued")
        #expect(try await task.value && isAdded)
        queue.stop()
        await #expect(throws: Problem.self) { try await queues.perform(for: call) {} }
        #expect(await (try? queues.perform(for: call, .small) { 1 }) == 1)
    }

    @Test func oneCallerCannotFillTheQueue() {
        let gate = occupy()
        var count = 0
        while queue.add(for: "a", {}) { count += 1 }
        #expect(count == queue.share)
        while queue.add(for: "b", {}) { count += 1 }
        #expect(count == queue.capacity)
        let isFirst = queue.add(for: "c") {}
        let isSecond = queue.add(for: "c") {}
        #expect(isFirst && !isSecond)
        gate.signal()
    }
}
