internal import DequeModule
internal import Dispatch
internal import Primitives
internal import SessionPool

/// How long a request takes the thread that performs it.
enum WorkSize {
    /// Less than a millisecond: the thread of the HTTP server performs the request at once.
    case small
    /// Some milliseconds: many such requests together would delay other requests.
    case medium
    /// Possibly longer.
    case large

    /// The size of a request that visits a number of resources, or of sources of a stream: each takes some microseconds, and up
    /// to 0.2 ms to join.
    init(visiting count: Int) { self = count > Self.mostVisits ? .large : .small }

    /// The most resources that small work visits.
    static let mostVisits = 100
}

/// The queues of medium and of large work: the former does not wait for the latter.
struct BackgroundQueues: Sendable {
    let medium = BackgroundQueue(label: "gateway.background.medium", capacity: 4_000)
    let large = BackgroundQueue(label: "gateway.background.large")

    /// The queue for work of a size; nil for small work.
    subscript(size: WorkSize) -> BackgroundQueue? {
        switch size {
        case .small: nil
        case .medium: medium
        case .large: large
        }
    }

    /// The queue for work that no thread of the HTTP server may do, whatever the size.
    func queue(for size: WorkSize) -> BackgroundQueue { self[size] ?? medium }

    /// Performs work of a request with all that follows from it: on the queue for its size, or at once.
    ///
    /// - Throws: The error of the work; `refusal` of the queue if that is full or stopped.
    func perform<Result>(
        for call: Call,
        _ size: WorkSize = .large,
        _ work: () async throws -> Result
    ) async throws -> Result {
        guard let queue = self[size] else { return try await work() }
        return try await queue.perform(for: call, work)
    }

    /// Refuses further work; the work that was added is still performed.
    func stop() { for queue in [medium, large] { queue.stop() } }
}

/// Runs work on a thread of its own: the work delays neither the threads of the HTTP server, which serve other requests and
/// streams, nor the threads of Swift tasks, which handle the upstream sessions and are only as many as the processors. Each
/// piece of work runs after the previous one; callers take turns. The number of waiting pieces is bounded, in all and for each
/// caller. The thread exists while there is work.
final class BackgroundQueue: Sendable {
    typealias Work = @Sendable () -> Void

    /// The greatest number of waiting pieces of work.
    let capacity: Int
    /// The greatest number of waiting pieces of one caller.
    var share: Int { capacity / 2 }

    private struct State {
        /// The work that waits, by caller.
        private var waiting: [String: Deque<Work>] = [:]
        /// The callers whose work waits, in the order of their turns.
        private var turns: Deque<String> = []
        private var count = 0
        var isStopped = false

        /// Whether bounded work of a caller can be added. The first piece of a caller always can.
        func hasRoom(for caller: String, of queue: BackgroundQueue) -> Bool {
            let own = waiting[caller]?.count ?? 0
            return !isStopped && own < queue.share && (own == 0 || count < queue.capacity)
        }

        mutating func add(_ work: @escaping Work, of caller: String) {
            if waiting[caller] == nil { turns.append(caller) }
            waiting[caller, default: []].append(work)
            count += 1
        }

        /// Removes and returns the work whose turn it is.
        mutating func next() -> Work? {
            guard let caller = turns.popFirst(), let work = waiting[caller]?.popFirst() else { return nil }
            count -= 1
            if waiting[caller]?.isEmpty == true { waiting[caller] = nil } else { turns.append(caller) }
            return work
        }
    }

    private let state = RankedMutex(State())
    private let queue: DispatchQueue

    init(label: String, capacity: Int = 1_000) { (queue, self.capacity) = (DispatchQueue(label: label), capacity) }

    /// Adds work; false if the queue is stopped, or full and the work is bounded.
    ///
    /// - Parameter caller: The caller whose request it is; empty for work of several requests.
    func add(for caller: String = "", isBounded: Bool = true, _ work: @escaping Work) -> Bool {
        let isAdded = state.withLock { state in
            if state.isStopped || isBounded && !state.hasRoom(for: caller, of: self) { return false }
            state.add(work, of: caller)
            return true
        }
        if isAdded { runNext() }
        return isAdded
    }

    /// Adds a job of a task, whose first one had room.
    fileprivate func add(_ job: UnownedJob, of executor: CallerExecutor) {
        state.withLock { state in
            state.add({ job.runSynchronously(on: executor.asUnownedTaskExecutor()) }, of: executor.caller)
        }
        runNext()
    }

    private func runNext() { queue.async { [self] in state.withLock { $0.next() }?() } }

    /// The problem of a request whose work is not added.
    var refusal: Problem {
        if state.withLock({ $0.isStopped }) { return .stopping }
        let rule = "The maximum of \(capacity) large requests, or \(share) of one caller, waits to be processed."
        return Problem(.gatewayFull, detail: rule)
    }

    fileprivate func perform<Result>(for call: Call, _ work: () async throws -> Result) async throws -> Result {
        let executor = CallerExecutor(queue: self, caller: call.shareName)
        guard state.withLock({ $0.hasRoom(for: executor.caller, of: self) }) else { throw refusal }
        return try await withTaskExecutorPreference(executor, operation: work)
    }

    /// Refuses further work; the work that was added is still performed.
    func stop() { state.withLock { $0.isStopped = true } }
}

/// Runs the jobs of a request's task at the turns of the caller.
private final class CallerExecutor: TaskExecutor {
    private let queue: BackgroundQueue
    let caller: String

    init(queue: BackgroundQueue, caller: String) { (self.queue, self.caller) = (queue, caller) }

    func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job), of: self) }
}

/// Work that runs once more if it is requested, once or several times, while it runs.
final class RepeatedWork: Sendable {
    private enum State {
        case idle
        case queued
        case queuedAgain(BackgroundQueue)
        case ended
    }

    private let caller: String
    private let work: BackgroundQueue.Work
    private let state = RankedMutex(State.idle)

    /// - Parameter caller: The caller whose request it is; empty for work of several requests.
    init(for caller: String = "", _ work: @escaping BackgroundQueue.Work) { (self.caller, self.work) = (caller, work) }

    func request(on queue: BackgroundQueue) {
        let isNew = state.withLock { state in
            switch state {
            case .ended: return false
            case .idle:
                state = .queued
                return true
            case .queued, .queuedAgain:
                state = .queuedAgain(queue)
                return false
            }
        }
        if isNew { add(to: queue) }
    }

    /// Ignores further requests, and those whose work has not begun.
    func end() { state.withLock { $0 = .ended } }

    private func add(to queue: BackgroundQueue) {
        // Requests wait for the work, which is queued once at a time: dropped, it would leave them without a response.
        guard !queue.add(for: caller, isBounded: false, { self.run() }) else { return }
        advance(to: .idle)
    }

    private func run() {
        // Later requests demand the work once more; those before this moment do not.
        guard advance(to: .queued) else { return }
        work()
        let next: BackgroundQueue? = state.withLock { state in
            switch state {
            case .ended: return nil
            case .queuedAgain(let queue):
                state = .queued
                return queue
            case .idle, .queued:
                state = .idle
                return nil
            }
        }
        // Behind the other work, which would never run if the state changes faster than this work is done.
        if let next { add(to: next) }
    }

    /// Enters a state; false if the work has ended.
    @discardableResult private func advance(to next: State) -> Bool {
        state.withLock { state in
            if case .ended = state { return false }
            state = next
            return true
        }
    }
}

extension Services {
    /// Performs a request that visits a number of resources, or of sources of a stream: on a background queue if they are many.
    func visiting(
        _ count: Int,
        _ call: Call,
        _ work: @escaping @Sendable () throws -> OperationResult
    ) throws -> OperationResult {
        let size = WorkSize(visiting: count)
        if size == .small { return try work() }
        return .later { [background] in try await background.perform(for: call, size) { try work() } }
    }

    /// Responds as soon as there is a response: at once, or after a change, at the latest after the requested waiting
    /// time. A background queue makes the responses, because they take long to make.
    ///
    /// - Parameters:
    ///   - background: The queue.
    ///   - watchers: Where changes of a state are reported.
    ///   - isKnown: Whether there is no response for the present state; it must be quick.
    ///   - decide: The response; nil before a change.
    ///   - rules: The rules for equal requests that join the wait; nil: each waits alone.
    func wait(
        _ call: Call,
        upTo seconds: Int,
        on watchers: Watchers,
        isKnown: @escaping @Sendable () -> Bool,
        decideOn background: BackgroundQueue,
        _ decide: @escaping @Sendable () -> Response?,
        timedOut: @escaping @Sendable () -> Response,
        sharing rules: SharedDecision.Rules? = nil
    ) throws(Problem) -> OperationResult {
        let pending = try pendingResponse(call)
        let caller = call.shareName
        let timer = timers.schedule(after: .seconds(seconds)) {
            // If the queue is stopped, the response is made here, because it is due.
            let isAdded = background.add(for: caller, isBounded: false) { pending.complete(timedOut) }
            if !isAdded { pending.complete(timedOut) }
        }
        if let timer { pending.onCompletion { [timers] in timers.cancel(timer) } }
        let watch: SharedDecision.Watch = { complete in
            let attempt = RepeatedWork(for: caller) {
                if let response = decide() { complete(response) }
            }
            // The first call of this closure is made at once.
            let handle = watchers.add {
                if !isKnown() { attempt.request(on: background) }
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
