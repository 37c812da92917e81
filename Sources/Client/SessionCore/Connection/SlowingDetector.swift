/// Detects from `SYNC` lines that the client reads more slowly than the server writes: the connection time that the
/// server put into the line then falls behind the time at which the client reads the line.
struct SlowingDetector {
    private enum Phase {
        case first
        case good
        case notGood
    }

    private static let tolerance = 7_000.0
    private static let hugeDelay = 20_000.0
    private static let negligible = 60.0
    private static let momentum = 0.5

    private var phase = Phase.first
    private var reference = Moment.zero
    private var average = 0.0
    private var isRequested = true

    /// A streaming connection is requested, with `SYNC` lines or without; `SYNC` lines without request mean nothing.
    mutating func requested(_ isRequested: Bool) { self.isRequested = isRequested }

    /// A streaming connection was established.
    mutating func begin() { phase = .first }

    /// A `SYNC` arrived. True: the client is too slow.
    mutating func synchronised(serverSeconds: Int, at now: Moment) -> Bool {
        guard isRequested else { return false }
        let server = Double(serverSeconds) * 1000
        guard phase != .first else {
            reference = now
            average = -server
            phase = .good
            return false
        }
        let delay = Double((now - reference).clampedNanoseconds) / 1_000_000 - server
        // A single huge delay indicates that the host slept, not that the client is slow.
        let isIsolated = delay > Self.hugeDelay && delay > 2 * average
        if phase == .good, isIsolated {
            if average > Self.tolerance { return true }
            phase = .notGood
            return false
        }
        average = Self.momentum * average + (1 - Self.momentum) * delay
        if average > Self.tolerance { return true }
        if average < Self.negligible { average = 0 }
        if phase == .notGood, isIsolated { phase = .good }
        return false
    }
}
