internal import HeapModule
internal import Primitives

/// Runs actions when they are due, in one task for all requests that wait and all streams that expire.
final class TimerQueue: Sendable {
    /// An action; it must be quick.
    typealias Action = @Sendable () -> Void

    struct Timer {
        let runsAtStop: Bool
        let action: Action
    }

    struct State: ~Copyable {
        var timers = TimerTable<Timer>()
        var isStopped = false
        /// The last sleep of `run`, and its end; nil once it is interrupted.
        var sleep: (task: Task<Void, Never>, until: Moment)?

        /// Makes `run` look for actions that are due.
        mutating func interruptSleep() {
            sleep?.task.cancel()
            sleep = nil
        }
    }

    /// The longest sleep of `run`. The system keeps the memory of a sleep that was interrupted until its end.
    private static let longestSleep = Duration.seconds(60)

    private let clock: @Sendable () -> Moment
    let state = RankedMutex(State())

    init(clock: @escaping @Sendable () -> Moment) { self.clock = clock }

    /// Schedules an action. After `stop` the result is nil.
    ///
    /// - Parameter runsAtStop: Whether `stop` runs the action before it is due, and at once if it is scheduled later:
    ///   a response to a request that waits. Otherwise it is dropped: a limit of time that has not ended.
    @discardableResult
    func schedule(after delay: Duration, runsAtStop: Bool = true, _ action: @escaping Action) -> TimerID? {
        let due = clock() + delay
        let id: TimerID? = state.withLock { state in
            if state.isStopped { return nil }
            // Most actions are removed long before they are due, and `run` sleeps on. Then it sleeps again for the rest.
            if let sleep = state.sleep, due < sleep.until { state.interruptSleep() }
            return state.timers.add(Timer(runsAtStop: runsAtStop, action: action), at: due)
        }
        if id == nil, runsAtStop { action() }
        return id
    }

    /// Cancels an action, unless it has run.
    func cancel(_ id: TimerID) { state.withLock { $0.timers.remove(id) } }

    /// Runs actions when they are due, until `stop` or cancellation, which `stop` follows as well.
    func run() async {
        while !Task.isCancelled, !isStopped {
            runDue()
            await sleep()
        }
        stop()
    }

    func runDue() {
        let now = clock()
        for timer in state.withLock({ $0.timers.take(dueBy: now) }) { timer.action() }
    }

    /// Runs the actions of waiting requests, so that these get their responses, and drops all others.
    func stop() {
        let left = state.withLock { state in
            state.isStopped = true
            state.interruptSleep()
            return state.timers.takeAll()
        }
        for timer in left where timer.runsAtStop { timer.action() }
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    /// Sleeps until the next action is due, an earlier action is scheduled, or `stop` is called, a minute at most.
    private func sleep() async {
        let now = clock()
        let sleeper: Task<Void, Never>? = state.withLock { state in
            if state.isStopped { return nil }
            let latest = now + Self.longestSleep
            let end = min(state.timers.next ?? latest, latest)
            let pause = max(end - now, .zero)
            let sleeper = Task<Void, Never> { try? await Task.sleep(for: pause) }
            state.sleep = (sleeper, end)
            return sleeper
        }
        await withTaskCancellationHandler {
            await sleeper?.value
        } onCancel: {
            sleeper?.cancel()
        }
    }
}

/// Identifies an action of a `TimerTable`.
struct TimerID: Sendable, Hashable, Comparable {
    fileprivate let due: Moment
    fileprivate let number: UInt64

    /// Orders by the moment the actions are due, then by the order in which they were added.
    static func < (left: TimerID, right: TimerID) -> Bool {
        left.due == right.due ? left.number < right.number : left.due < right.due
    }
}

/// The number of removed actions up to which a `TimerTable` keeps their ids in any case.
private let leastRemoved = 64

/// Actions ordered by the moment they are due. Adding and removing one costs O(log n), also among tens of thousands of
/// long polls, most of which are removed long before they are due.
struct TimerTable<Action>: ~Copyable {
    /// The ids of all actions, and of some that were removed; the first one has an action.
    private var order = Heap<TimerID>()
    private(set) var actions: [TimerID: Action] = [:]
    private var nextNumber: UInt64 = 1

    var next: Moment? { order.min?.due }

    mutating func add(_ action: Action, at due: Moment) -> TimerID {
        let id = TimerID(due: due, number: nextNumber)
        nextNumber &+= 1
        order.insert(id)
        actions[id] = action
        return id
    }

    /// Removes an action, unless it was taken.
    mutating func remove(_ id: TimerID) {
        guard actions.removeValue(forKey: id) != nil else { return }
        if order.count > actions.count * 2 + leastRemoved { order = Heap(actions.keys) } else { dropRemoved() }
    }

    /// Takes all actions that are due, the earliest first.
    mutating func take(dueBy now: Moment) -> [Action] {
        var due: [Action] = []
        while let id = order.min, id.due <= now {
            order.removeMin()
            if let action = actions.removeValue(forKey: id) { due.append(action) }
        }
        dropRemoved()
        return due
    }

    mutating func takeAll() -> [Action] {
        defer {
            order = Heap()
            actions = [:]
        }
        return actions.sorted { $0.key < $1.key }.map(\.value)
    }

    private mutating func dropRemoved() { while let id = order.min, actions[id] == nil { order.removeMin() } }
}
