internal import Primitives

/// Notices threads and tasks that do not come round: `/health/live` fails then, so that the process is replaced.
///
/// Each of them has a counter that grows when it comes round. After each check the threads are called, so that an idle one
/// comes round as well.
final class Watchdog: Sendable {
    /// A thread or task that is watched.
    struct Subject: Sendable {
        /// The name in the response of `/health/live`.
        let name: String
        /// How often it has come round; nil: it has nothing to do.
        let rounds: UInt64?
    }

    private struct State {
        /// For each subject its rounds at the last check, and the check since which they have not changed.
        var seen: [String: (rounds: UInt64?, since: Moment)] = [:]
        /// The earliest of these checks, among subjects that have something to do; nil: none has.
        var oldest: Moment?
        var subjects: @Sendable () -> [Subject] = { [] }
    }

    private let state = RankedMutex(State())

    /// Sets what is watched. `subjects` may be called on any thread.
    func watch(_ subjects: @escaping @Sendable () -> [Subject]) { state.withLock { $0.subjects = subjects } }

    /// Notes who has come round since the last check.
    func check(at now: Moment) {
        let subjects = state.withLock { $0.subjects }()
        state.withLock { state in
            var seen: [String: (rounds: UInt64?, since: Moment)] = [:]
            for subject in subjects {
                let known = state.seen[subject.name]
                let isStill = known.map { $0.rounds == subject.rounds } ?? false
                seen[subject.name] = (subject.rounds, isStill ? known?.since ?? now : now)
            }
            state.seen = seen
            state.oldest = seen.values.lazy.filter { $0.rounds != nil }.map(\.since).min()
        }
    }

    /// The names of those that have not come round for a time, as of now.
    func stalled(for limit: Duration, at now: Moment) -> [String] {
        let (seen, oldest, subjects) = state.withLock { ($0.seen, $0.oldest, $0.subjects) }
        // Probes need no credentials and have no limit of their rate: they do not look at all subjects in vain.
        guard let oldest, now - oldest > limit else { return [] }
        return subjects().filter { subject in
            guard let rounds = subject.rounds, let known = seen[subject.name], known.rounds == rounds else {
                return false
            }
            return now - known.since > limit
        }
        .map(\.name).sorted()
    }
}
