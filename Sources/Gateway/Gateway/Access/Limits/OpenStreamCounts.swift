internal import Synchronization

/// The number of open streams of each caller, compared with the caller's limit.
final class OpenStreamCounts: Sendable {
    private let counts = Mutex<[String: Int]>([:])

    /// No caller has a stream open.
    init() {}

    /// Counts a stream that is about to open; false, without counting, if the caller has reached its limit.
    func add(_ caller: Caller) -> Bool {
        guard let identity = caller.identity else { return true }
        return counts.withLock { counts in
            let present = counts[identity, default: 0]
            if let limit = caller.rights.streams, present >= limit { return false }
            counts[identity] = present + 1
            return true
        }
    }

    /// Removes a stream that has ended from the count; called once for each `add` that returned true.
    func remove(_ caller: Caller) {
        guard let identity = caller.identity else { return }
        counts.withLock { counts in
            let left = counts[identity, default: 1] - 1
            counts[identity] = left > 0 ? left : nil
        }
    }

    /// The numbers of open streams by caller.
    var all: [String: Int] { counts.withLock { $0 } }

    /// The number of open streams of a caller.
    func count(_ caller: Caller) -> Int {
        caller.identity.map { identity in counts.withLock { $0[identity, default: 0] } } ?? 0
    }
}
