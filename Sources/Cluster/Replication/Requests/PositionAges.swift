internal import Primitives

/// The positions of the log that this member has applied long ago, by its own monotonic clock: the wall clocks of members
/// differ, and may be moved.
struct PositionAges: Sendable {
    private struct Sample {
        let position: UInt64
        let time: Moment
    }

    private let lifetime: Duration
    private let interval: Duration
    private var samples: [Sample] = []
    /// The last position that was applied a lifetime ago; 0 if none is known.
    private(set) var expired: UInt64 = 0

    /// - Parameter lifetime: The age at which a position is expired. It may be recognized by a hundredth of this later.
    init(lifetime: Duration) {
        self.lifetime = lifetime
        interval = lifetime / 100
    }

    /// The log is applied up to a position.
    mutating func note(_ position: UInt64, at now: Moment) {
        if let last = samples.last, now - last.time < interval { return }
        samples.append(Sample(position: position, time: now))
        let old = samples.prefix { now - $0.time >= lifetime }
        expired = old.last?.position ?? expired
        samples.removeFirst(old.count)
    }

    /// The positions belong to another epoch, or were not applied by this member.
    mutating func reset() { self = PositionAges(lifetime: lifetime) }
}
