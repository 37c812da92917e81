import MicroHTTPD
import Primitives
import Synchronization
import Testing

@testable import Gateway

@Suite struct WaitingTasksTests {
    @Test func theFirstResultCountsAlsoIfItPrecedesTheWait() async throws {
        let awaited = Awaited<Int>()
        awaited.end(.success(1))
        awaited.end(.success(2))
        #expect(try await awaited.value == 1)
    }

    @Test func cancellationEndsTheWait() async {
        let awaited = Awaited<Int>()
        let task = Task.immediate { try await awaited.value }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func actionsRunOnceAtTheEndOrAfterIt() {
        let awaited = Awaited<Int>()
        let count = Mutex(0)
        awaited.onEnd { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 0)
        awaited.end(.success(1))
        awaited.end(.success(2))
        #expect(count.withLock { $0 } == 1)
        awaited.onEnd { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 2)
    }

    @Test func anActionEndsWhenTheGatewayStops() async throws {
        let services = Fixture().services
        #expect(try await services.untilStop(within: .seconds(60)) { 1 } == 1)
        let reply = Awaited<Int>()
        let cancelled = Awaited<Void>()
        let task = Task.immediate {
            try await services.untilStop(within: .seconds(60)) {
                try await withTaskCancellationHandler {
                    try await reply.value
                } onCancel: {
                    cancelled.end(.success(()))
                }
            }
        }
        services.timers.stop()
        #expect(try await task.value == nil)
        try await cancelled.value
        // An action that begins later ends at once.
        let later = Awaited<Int>()
        #expect(try await services.untilStop(within: .seconds(60)) { try await later.value } == nil)
    }

    @Test func aTaskThatEndsBeforeItWaitsAnswersAtOnce() {
        let request = RequestTask()
        let task = Task.immediate { _ = request.enter(.ended(.response(HTTPResponse(status: 204)))) }
        guard case .ended(.response(let response)) = request.enter(.waiting(task)) else {
            Issue.record("the request waits")
            return
        }
        #expect(response.status == 204)
    }

    @Test func aClientThatLeavesCancelsTheTask() async {
        let request = RequestTask()
        let awaited = Awaited<Int>()
        let task = Task.immediate { _ = await #expect(throws: CancellationError.self) { try await awaited.value } }
        guard case .beginning(isCancelled: false) = request.enter(.waiting(task)) else {
            Issue.record("the request does not wait")
            return
        }
        request.cancel()
        await task.value
        guard case .waiting = request.enter(.ended(nil)) else {
            Issue.record("the request has an answer at once")
            return
        }
    }

    @Test func aClientThatHasLeftBeforeTheRequestWaitsIsKnown() {
        let request = RequestTask()
        request.cancel()
        guard case .beginning(isCancelled: true) = request.enter(.ended(nil)) else {
            Issue.record("the client seems to be there")
            return
        }
    }
}
