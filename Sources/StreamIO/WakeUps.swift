internal import Synchronization

/// Gathers the wake-ups that a thread causes while it makes many changes one after the other, so that each sleeper wakes
/// once for all of them. Without this, a sleeper on the same processor would run after the first change already.
package enum WakeUps {
    /// What wakes up. Its changes are visible to it before the wake-up, if it is awake for another reason.
    package protocol Sleeper: AnyObject, Sendable {
        /// Wakes the sleeper.
        func wakeUp()
    }

    /// The sleepers to wake at the end of the present `together`. Only the thread that runs it has access.
    private final class Gathered: Sendable {
        let sleepers = Mutex<[any Sleeper]>([])

        func add(_ sleeper: any Sleeper) {
            sleepers.withLock { sleepers in
                if !sleepers.contains(where: { $0 === sleeper }) { sleepers.append(sleeper) }
            }
        }
    }

    @TaskLocal private static var gathered: Gathered?

    /// Performs an action. The wake-ups that it requests on this thread are made at its end.
    package static func together(_ action: () -> Void) {
        guard gathered == nil else { return action() }
        let present = Gathered()
        $gathered.withValue(present, operation: action)
        for sleeper in present.sleepers.withLock({ $0 }) { sleeper.wakeUp() }
    }

    /// Wakes a sleeper, at once or at the end of the present `together`.
    package static func request(_ sleeper: any Sleeper) {
        if let gathered { gathered.add(sleeper) } else { sleeper.wakeUp() }
    }
}
