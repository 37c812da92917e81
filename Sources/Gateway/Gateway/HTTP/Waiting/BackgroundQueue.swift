internal import Dispatch
internal import Primitives
internal import SessionPool

/// Runs large work on a thread of its own, so that it delays neither the threads of the HTTP server, which serve other
/// requests and streams, nor the threads of Swift tasks, which handle the upstream sessions and are only as many as the
/// processors. Each piece of work runs after the previous one; the number of waiting pieces is bounded. The thread
/// exists while there is work.
final class BackgroundQueue: Sendable {
    /// The greatest number of waiting pieces of work.
    static let capacity = 1_000

    private struct State {
        var waiting = 0
        var isStopped = false
    }

    private let state = RankedMutex(State())
    private let queue = DispatchQueue(label: "gateway.background")

    /// Adds work; false if the queue is stopped, or full and the work is bounded.
    func add(isBounded: Bool = true, _ work: @escaping @Sendable () -> Void) -> Bool {
        let isAdded = state.withLock { state in
            if state.isStopped || (isBounded && state.waiting >= Self.capacity) { return false }
            state.waiting += 1
            return true
        }
        guard isAdded else { return false }
        queue.async { [self] in
            state.withLock { $0.waiting -= 1 }
            work()
        }
        return true
    }

    /// Whether bounded work can be added.
    private var hasRoom: Bool { state.withLock { !$0.isStopped && $0.waiting < Self.capacity } }

    /// Performs work on this queue, if the work is large, with all that follows from it.
    ///
    /// - Throws: The error of the work; a 503 problem if the queue is full or stopped.
    func perform<Result>(if isLarge: Bool = true, _ work: () async throws -> Result) async throws -> Result {
        guard isLarge else { return try await work() }
        guard hasRoom else { throw Problem(.gatewayFull, detail: "Too many large requests are being processed.") }
        return try await withTaskExecutorPreference(self, operation: work)
    }

    /// Refuses further work; the work that was added is still performed.
    func stop() { state.withLock { $0.isStopped = true } }
}

extension BackgroundQueue: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        state.withLock { $0.waiting += 1 }
        queue.async { [self] in
            state.withLock { $0.waiting -= 1 }
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}

/// Work that runs once more if it is requested, once or several times, while it runs.
final class RepeatedWork: Sendable {
    private enum State {
        case idle
        case queued
        case queuedAgain
    }

    private let work: @Sendable () -> Void
    private let state = RankedMutex(State.idle)

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    func request(on queue: BackgroundQueue) {
        let isNew = state.withLock { state in
            defer { state = state == .idle ? .queued : .queuedAgain }
            return state == .idle
        }
        if isNew { add(to: queue) }
    }

    private func add(to queue: BackgroundQueue) {
        // Requests wait for the work, which is queued once at a time: dropped, it would leave them without a response.
        if !queue.add(isBounded: false, { self.run(on: queue) }) { state.withLock { $0 = .idle } }
    }

    private func run(on queue: BackgroundQueue) {
        state.withLock { $0 = .queued }
        work()
        let isDue = state.withLock { state in
            defer { state = state == .queuedAgain ? .queued : .idle }
            return state == .queuedAgain
        }
        // Behind the other work, which would never run if the state changes faster than this work is done.
        if isDue { add(to: queue) }
    }
}

extension Services {
    /// Responds as soon as there is a response: at once, or after a change, at the latest after the requested waiting
    /// time. The background queue makes the responses, because they take long to make.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - seconds: The longest wait.
    ///   - watchers: Where changes of a state are reported.
    ///   - present: The present state.
    ///   - decideInBackground: The response; nil before a change.
    ///   - timedOut: The response after the longest wait.
    func wait<State>(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers<State>,
        present: () -> State,
        decideInBackground decide: @escaping @Sendable () -> Response?,
        timedOut: @escaping @Sendable () -> Response
    ) throws(Problem) -> OperationResult {
        let pending = try pendingResponse(call)
        let attempt = RepeatedWork {
            if !pending.isComplete, let response = decide() { pending.complete { response } }
        }
        let timer = timers.schedule(after: .seconds(seconds)) { [background] in
            // If the queue is full, the response is made here, because it is due.
            if !background.add({ pending.complete(timedOut) }) { pending.complete(timedOut) }
        }
        if let timer { pending.onCompletion { [timers] in timers.cancel(timer) } }
        // The first call of this closure is made at once.
        let handle = watchers.add(present: present) { [background] _ in
            if pending.isComplete { return true }
            attempt.request(on: background)
            return false
        }
        if let handle { pending.onCompletion { watchers.cancel(handle) } }
        return .deferred
    }
}
