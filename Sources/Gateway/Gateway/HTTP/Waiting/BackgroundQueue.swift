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
    /// A request that visits more resources than this, or more sources of a stream, is large work: each takes some microseconds,
    /// and up to 0.2 ms to join.
    static let largeCount = 100

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

    /// The problem of a request whose work is not added.
    var refusal: Problem {
        if state.withLock({ $0.isStopped }) { return .stopping }
        return Problem(.gatewayFull, detail: "Too many large requests are being processed.")
    }

    /// Performs work on this queue, if the work is large, with all that follows from it.
    ///
    /// - Throws: The error of the work; `refusal` if the queue is full or stopped.
    func perform<Result>(if isLarge: Bool = true, _ work: () async throws -> Result) async throws -> Result {
        guard isLarge else { return try await work() }
        guard hasRoom else { throw refusal }
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
        case ended
    }

    private let work: @Sendable () -> Void
    private let state = RankedMutex(State.idle)

    init(_ work: @escaping @Sendable () -> Void) { self.work = work }

    func request(on queue: BackgroundQueue) {
        let isNew = state.withLock { state in
            if state == .ended { return false }
            defer { state = state == .idle ? .queued : .queuedAgain }
            return state == .idle
        }
        if isNew { add(to: queue) }
    }

    /// Ignores further requests, and those whose work has not begun.
    func end() { state.withLock { $0 = .ended } }

    private func add(to queue: BackgroundQueue) {
        // Requests wait for the work, which is queued once at a time: dropped, it would leave them without a response.
        guard !queue.add(isBounded: false, { self.run(on: queue) }) else { return }
        state.withLock { state in
            if state != .ended { state = .idle }
        }
    }

    private func run(on queue: BackgroundQueue) {
        let isEnded = state.withLock { state in
            if state != .ended { state = .queued }
            return state == .ended
        }
        if isEnded { return }
        work()
        let isDue = state.withLock { state in
            if state == .ended { return false }
            defer { state = state == .queuedAgain ? .queued : .idle }
            return state == .queuedAgain
        }
        // Behind the other work, which would never run if the state changes faster than this work is done.
        if isDue { add(to: queue) }
    }
}

extension Services {
    /// Performs a request that visits a number of resources, or of sources of a stream: on the background queue if they are many.
    func visiting(
        _ count: Int,
        _ work: @escaping @Sendable () throws -> OperationResult
    ) throws -> OperationResult {
        guard count > BackgroundQueue.largeCount else { return try work() }
        return .later { [background] in try await background.perform { try work() } }
    }

    /// Responds as soon as there is a response: at once, or after a change, at the latest after the requested waiting
    /// time. The background queue makes the responses, because they take long to make.
    ///
    /// - Parameters:
    ///   - watchers: Where changes of a state are reported.
    ///   - isKnown: Whether there is no response for a state; it must be quick.
    ///   - decide: The response; nil before a change.
    ///   - rules: The rules for equal requests that join the wait; nil: each waits alone.
    func wait<State>(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers<State>,
        present: @escaping @Sendable () -> State,
        isKnown: @escaping @Sendable (State) -> Bool = { _ in false },
        decideInBackground decide: @escaping @Sendable () -> Response?,
        timedOut: @escaping @Sendable () -> Response,
        sharing rules: SharedDecision.Rules? = nil
    ) throws(Problem) -> OperationResult {
        let pending = try pendingResponse(call)
        let timer = timers.schedule(after: .seconds(seconds)) { [background] in
            // If the queue is full, the response is made here, because it is due.
            if !background.add({ pending.complete(timedOut) }) { pending.complete(timedOut) }
        }
        if let timer { pending.onCompletion { [timers] in timers.cancel(timer) } }
        let watch: SharedDecision.Watch = { [background] complete in
            let attempt = RepeatedWork {
                if let response = decide() { complete(response) }
            }
            // The first call of this closure is made at once.
            let handle = watchers.add(present: present) { state in
                if !isKnown(state) { attempt.request(on: background) }
                return false
            }
            return {
                attempt.end()
                if let handle { watchers.cancel(handle) }
            }
        }
        pending.onCompletion(watch { response in pending.complete { response } })
        if let rules { call.share?(SharedDecision(longestWait: .seconds(seconds), rules: rules, watch: watch)) }
        return .deferred
    }
}
