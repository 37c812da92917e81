internal import SessionCore
internal import Synchronization

/// Does things at their time: one task for all requests that wait, however many.
final class Deadlines: Sendable {
    /// What is done; it must be quick.
    typealias Action = @Sendable () -> Void

    private struct Body: ~Copyable {
        var book = DeadlineTable<Action>()
        var isStopped = false
        var sleeper: Task<Void, Never>?
    }

    private let clock: @Sendable () -> Moment
    private let body = Mutex(Body())

    /// Nothing to do.
    init(clock: @escaping @Sendable () -> Moment) { self.clock = clock }

    /// Notes an action for later; after the stop it is done at once, and there is no id. Give the id to `cancel`
    /// where it is no longer wanted.
    @discardableResult
    func after(_ delay: Duration, _ action: @escaping Action) -> DeadlineID? {
        let due = clock() + delay
        let id: DeadlineID? = body.withLock { body in
            if body.isStopped { return nil }
            let isEarliest = body.book.next.map { due < $0 } ?? true
            let id = body.book.add(action, at: due)
            if isEarliest { body.sleeper?.cancel() }
            return id
        }
        if id == nil { action() }
        return id
    }

    /// Strikes an action out, unless it is done.
    func cancel(_ id: DeadlineID) { body.withLock { $0.book.remove(id) } }

    /// Does what is due until the stop or cancellation; then all that is left.
    func run() async {
        while !Task.isCancelled, !isStopped {
            let now = clock()
            for action in body.withLock({ $0.book.take(dueBy: now) }) { action() }
            await sleep()
        }
        stop()
    }

    /// Does all that is left, at once: those who wait are answered. What is noted later is done at once, too.
    func stop() {
        let left = body.withLock { body in
            body.isStopped = true
            body.sleeper?.cancel()
            return body.book.takeAll()
        }
        for action in left { action() }
    }

    /// How many actions wait for their time.
    var count: Int { body.withLock { $0.book.count } }

    private var isStopped: Bool { body.withLock { $0.isStopped } }

    /// Sleeps until the next action is due, an earlier one comes, or the stop.
    private func sleep() async {
        let now = clock()
        let sleeper: Task<Void, Never>? = body.withLock { body in
            if body.isStopped { return nil }
            let pause = body.book.next.map { max($0 - now, .zero) } ?? .seconds(3600)
            let sleeper = Task<Void, Never> { try? await Task.sleep(for: pause) }
            body.sleeper = sleeper
            return sleeper
        }
        await withTaskCancellationHandler {
            await sleeper?.value
        } onCancel: {
            sleeper?.cancel()
        }
    }
}
