internal import Primitives
internal import Synchronization

/// Closures that wait for a state: each is called at every change until it returns true.
package final class Watchers: Sendable {
    /// Examines the present state; true ends the watch.
    package typealias Watcher = @Sendable () -> Bool

    private let watchers = RankedMutex<[UInt64: Watcher]>([:])
    /// The handle of the last watcher that was added.
    private let lastHandle = Atomic<UInt64>(0)
    /// The number of watchers, written under the lock.
    let count = Atomic(0)

    /// Registers a watcher, unless the present state already satisfies it. Give the handle to `cancel` to end early.
    ///
    /// The watcher is called after registration, so a change between both is not missed; the watcher may be called
    /// from two threads at a time and may be satisfied twice.
    package func add(_ watcher: @escaping Watcher) -> UInt64? {
        let handle = lastHandle.wrappingAdd(1, ordering: .relaxed).newValue
        watchers.withLock { watchers in
            watchers[handle] = watcher
            count.store(watchers.count, ordering: .sequentiallyConsistent)
        }
        guard watcher() else { return handle }
        cancel(handle)
        return nil
    }

    package func cancel(_ handle: UInt64) {
        watchers.withLock { watchers in
            watchers[handle] = nil
            count.store(watchers.count, ordering: .sequentiallyConsistent)
        }
    }

    /// Whether there are no watchers.
    ///
    /// For a thread that has changed the state under the lock of the state, or in an atomic value of sequential
    /// consistency, a watcher that did not see the change counts: it was registered before it read the state.
    package var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

    package func notify() {
        let watchers = watchers.withLock { $0 }
        for (handle, watcher) in watchers where watcher() { cancel(handle) }
    }
}
