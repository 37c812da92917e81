internal import Synchronization

/// How many streams each caller has open, held against its limit.
final class StreamSeats: Sendable {
    private let taken = Mutex<[String: Int]>([:])

    /// All free.
    init() {}

    /// Takes a seat; false if the caller has as many streams open as it may.
    func take(_ caller: Caller) -> Bool {
        guard let identity = caller.identity else { return true }
        return taken.withLock { taken in
            let present = taken[identity, default: 0]
            if let limit = caller.rights.streams, present >= limit { return false }
            taken[identity] = present + 1
            return true
        }
    }

    /// Gives a seat back; once for each that was taken.
    func give(_ caller: Caller) {
        guard let identity = caller.identity else { return }
        taken.withLock { taken in
            let left = taken[identity, default: 1] - 1
            taken[identity] = left > 0 ? left : nil
        }
    }

    /// The number of seats that a caller has.
    func count(_ caller: Caller) -> Int {
        caller.identity.map { identity in taken.withLock { $0[identity, default: 0] } } ?? 0
    }
}
