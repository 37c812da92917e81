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

/// Names an action in a `DeadlineTable`.
struct DeadlineID: Sendable, Hashable, Comparable {
    fileprivate let due: Moment
    fileprivate let number: UInt64

    /// The earlier one is the lesser; of the same time, the one that was noted first.
    static func < (left: DeadlineID, right: DeadlineID) -> Bool {
        left.due == right.due ? left.number < right.number : left.due < right.due
    }
}

/// What is to be done at which moment. An ordered array: thousands wait at a time, not millions.
struct DeadlineTable<Action>: ~Copyable {
    /// The latest first, so that the next one is taken from the end.
    private var entries: [(id: DeadlineID, action: Action)] = []
    private var nextNumber: UInt64 = 1

    /// Nothing to do.
    init() {}

    /// The number of actions.
    var count: Int { entries.count }

    /// When the next action is due; nil: none is.
    var next: Moment? { entries.last?.id.due }

    /// Notes an action.
    mutating func add(_ action: Action, at due: Moment) -> DeadlineID {
        let id = DeadlineID(due: due, number: nextNumber)
        nextNumber &+= 1
        entries.insert((id, action), at: place(of: id))
        return id
    }

    /// Strikes an action out, unless it was taken.
    mutating func remove(_ id: DeadlineID) {
        let place = place(of: id)
        if entries.indices.contains(place), entries[place].id == id { entries.remove(at: place) }
    }

    /// Takes all actions that are due, the earliest first.
    mutating func take(dueBy now: Moment) -> [Action] {
        var actions: [Action] = []
        while let last = entries.last, last.id.due <= now {
            actions.append(last.action)
            entries.removeLast()
        }
        return actions
    }

    /// Takes all actions, the earliest first.
    mutating func takeAll() -> [Action] {
        defer { entries.removeAll() }
        return entries.reversed().map(\.action)
    }

    /// Where an id stands, or would stand.
    private func place(of id: DeadlineID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].id > id { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
