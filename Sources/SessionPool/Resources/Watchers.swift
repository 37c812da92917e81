internal import Synchronization

/// Closures that wait for a state: each is called at every change until it returns true.
package final class Watchers<State: Sendable>: Sendable {
    /// Examines a state; true ends the watch.
    package typealias Watcher = @Sendable (State) -> Bool

    private struct Entries {
        var next: UInt64 = 1
        var watchers: [UInt64: Watcher] = [:]
    }

    private let entries = Mutex(Entries())

    /// No watchers.
    package init() {}

    /// Registers a watcher, unless the present state already satisfies it. Give the handle to `cancel` to end early.
    ///
    /// The present state is read after registration, so a change between both is not missed; the watcher may be called
    /// from two threads at a time and may be satisfied twice.
    package func add(present: () -> State, _ watcher: @escaping Watcher) -> UInt64? {
        let handle = entries.withLock { entries in
            let handle = entries.next
            entries.next += 1
            entries.watchers[handle] = watcher
            return handle
        }
        guard watcher(present()) else { return handle }
        cancel(handle)
        return nil
    }

    /// Ends a watch.
    package func cancel(_ handle: UInt64) {
        entries.withLock { entries in _ = entries.watchers.removeValue(forKey: handle) }
    }

    /// Whether there are no watchers: a cheap check before a state is put together.
    package var isEmpty: Bool { entries.withLock { $0.watchers.isEmpty } }

    /// Calls every watcher.
    package func notify(_ state: State) {
        let watchers = entries.withLock { $0.watchers }
        for (handle, watcher) in watchers where watcher(state) { cancel(handle) }
    }

    /// Suspends until a state satisfies the condition; nil if the task is cancelled before.
    package func first(present: () -> State, where condition: @escaping @Sendable (State) -> Bool) async -> State? {
        let box = WatchBox<State>()
        let handle = add(present: present) { state in
            guard condition(state) else { return false }
            box.resume(with: state)
            return true
        }
        let state = await withTaskCancellationHandler {
            await box.value()
        } onCancel: {
            box.resume(with: nil)
        }
        if let handle { cancel(handle) }
        return state
    }
}

/// A continuation that may be resumed early, late or twice.
private final class WatchBox<State: Sendable>: Sendable {
    private enum Phase {
        case open
        case waiting(CheckedContinuation<State?, Never>)
        case done(State?)
    }

    private let phase = Mutex(Phase.open)

    func value() async -> State? {
        await withCheckedContinuation { continuation in
            let result: State?? = phase.withLock { phase in
                if case .done(let state) = phase { return .some(state) }
                phase = .waiting(continuation)
                return .none
            }
            if case .some(let state) = result { continuation.resume(returning: state) }
        }
    }

    func resume(with state: State?) {
        let waiting: CheckedContinuation<State?, Never>? = phase.withLock { phase in
            switch phase {
            case .open:
                phase = .done(state)
                return nil
            case .waiting(let continuation):
                phase = .done(state)
                return continuation
            case .done:
                return nil
            }
        }
        waiting?.resume(returning: state)
    }
}
