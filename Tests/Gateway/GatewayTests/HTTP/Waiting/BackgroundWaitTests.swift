import Dispatch
import MicroHTTPD
import Synchronization
import Testing

@testable import Gateway
@testable import SessionPool

@Suite struct BackgroundWaitTests {
    private let fixture = Fixture()
    private let watchers = Watchers()
    private let responses = AsyncStream.makeStream(of: Int.self)

    /// Waits for a response that is 200 once the flag is set, and 304 at the end of the time.
    private func wait(for hasChanged: Flag, isKnown: @escaping @Sendable () -> Bool = { false }) throws {
        let call = Call(
            record: CallRecord(HTTPRequest(method: "GET", rawPath: "/"), requestID: "", since: .zero),
            respond: { [responses] in responses.continuation.yield($0.status) }
        )
        let outcome = try fixture.services.wait(
            call,
            upTo: 60,
            on: watchers,
            isKnown: isKnown,
            decideOn: fixture.services.background.medium,
            {
                hasChanged.questions.withLock { $0 += 1 }
                return hasChanged.isSet.load(ordering: .acquiring) ? Response(status: 200) : nil
            },
            timedOut: { Response(status: 304) }
        )
        guard case .deferred = outcome else { return #expect(Bool(false), "the response is not deferred") }
    }

    @Test func aChangeIsExaminedOnTheBackgroundQueue() async throws {
        let hasChanged = Flag()
        let gate = DispatchSemaphore(value: 0)
        #expect(fixture.services.background.medium.add { gate.wait() })
        try wait(for: hasChanged)
        hasChanged.isSet.store(true, ordering: .releasing)
        watchers.notify()
        watchers.notify()
        #expect(hasChanged.questions.withLock { $0 } == 0)
        gate.signal()
        var statuses = responses.stream.makeAsyncIterator()
        #expect(await statuses.next() == 200)
    }

    @Test func aKnownStateIsNotExamined() async throws {
        let hasChanged = Flag()
        hasChanged.isSet.store(true, ordering: .releasing)
        let isKnown = Mutex(true)
        try wait(for: hasChanged) { isKnown.withLock { $0 } }
        watchers.notify()
        await withCheckedContinuation { done in
            if !fixture.services.background.medium.add({ done.resume() }) { done.resume() }
        }
        #expect(hasChanged.questions.withLock { $0 } == 0)
        isKnown.withLock { $0 = false }
        watchers.notify()
        var statuses = responses.stream.makeAsyncIterator()
        #expect(await statuses.next() == 200)
    }

    @Test func workRunsInOrderOutsideTheThreadsOfTasks() async {
        let queue = BackgroundQueue(label: "test")
        let gate = DispatchSemaphore(value: 0)
        #expect(queue.add { gate.wait() })
        let works = AsyncStream.makeStream(of: (Int, isTask: Bool).self)
        for number in 0..<3 {
            let isAdded = queue.add { works.continuation.yield((number, withUnsafeCurrentTask { $0 != nil })) }
            #expect(isAdded)
        }
        #expect(queue.add { works.continuation.finish() })
        queue.stop()
        #expect(!queue.add {})
        gate.signal()
        var numbers: [Int] = []
        for await (number, isTask) in works.stream {
            numbers.append(number)
            #expect(!isTask)
        }
        #expect(numbers == [0, 1, 2])
    }

    @Test func workThatIsRequestedWhileItRunsWaitsBehindOtherWork() async {
        let queue = BackgroundQueue(label: "test")
        let (names, source) = AsyncStream.makeStream(of: String.self)
        let request = Request()
        let work = RepeatedWork {
            source.yield("work")
            guard let again = request.again.withLock({ $0.take() }) else { return }
            again()
            if !queue.add({ source.yield("other") }) { source.finish() }
        }
        request.again.withLock { $0 = { work.request(on: queue) } }
        work.request(on: queue)
        var order: [String] = []
        for await name in names {
            order.append(name)
            if order.count == 3 { break }
        }
        #expect(order == ["work", "other", "work"])
    }

    @Test func theEndOfTheTimeIsAResponse() async throws {
        try wait(for: Flag())
        fixture.services.timers.stop()
        var statuses = responses.stream.makeAsyncIterator()
        #expect(await statuses.next() == 304)
    }
}

/// A request that work makes the first time it runs.
private final class Request: Sendable {
    let again = Mutex<(@Sendable () -> Void)?>(nil)
}

/// Whether a state has changed, and how often it was asked for.
private final class Flag: Sendable {
    let isSet = Atomic(false)
    let questions = Mutex(0)
}
