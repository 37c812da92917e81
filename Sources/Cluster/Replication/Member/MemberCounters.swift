/// The counters of a member since the start of its process.
package struct MemberCounters: Sendable, Equatable {
    /// Frames of the log that were read in order.
    package var framesApplied: UInt64 = 0
    /// Frames that were appended, without repetitions.
    package var framesAppended: UInt64 = 0
    /// Frames that were appended again because they were not seen in the log.
    package var framesRepeated: UInt64 = 0
    /// Frames that the engine did not deliver and that were fetched from the log.
    package var framesFetched: UInt64 = 0
    /// Frames of the log that were ignored because an equal frame was applied before.
    package var framesIgnoredRepeated: UInt64 = 0
    /// Frames of the log that were ignored because their writer was removed, or wrote under an earlier epoch.
    package var framesIgnoredStale: UInt64 = 0
    /// Epochs whose beginning was read from the log.
    package var epochsStarted: UInt64 = 0
    /// Epochs that this member entered by loading the state of another member.
    package var epochsLoaded: UInt64 = 0
    /// Proofs that the engine has shown different logs to members, or to this one.
    package var divergences: UInt64 = 0
    /// Members that left by themselves.
    package var membersLeft: UInt64 = 0
    /// Members that another member removed because their heartbeats were missing.
    package var membersSilent: UInt64 = 0
    /// Shared subscriptions that this member owns since their former owner was removed.
    package var takeovers: UInt64 = 0
    /// Sessions of removed members that this member has adopted.
    package var adoptions: UInt64 = 0
    /// The seconds from the first sending of a frame until it was read from the log.
    package var appendSeconds = Histogram(
        bounds: [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
    )
    /// The changes of the hub in each frame that was applied.
    package var frameEvents = Histogram(bounds: [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000])
    /// The seconds from the last heartbeat of a silent member until its removal was applied.
    package var failoverSeconds = Histogram(bounds: [0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10, 15, 30, 60])

    /// All zero.
    package init() {}

    /// Epochs that began, or that this member entered.
    package var epochs: UInt64 { epochsStarted + epochsLoaded }
}

/// Values counted in buckets, for an owner that protects it with a lock of its own.
package struct Histogram: Sendable, Equatable {
    /// The upper bounds of the buckets, ascending; one more bucket, without a bound, follows them.
    package let bounds: [Double]
    /// The counts of the buckets, each by itself, not added up.
    package private(set) var counts: [UInt64]
    /// The sum of all values.
    package private(set) var sum = 0.0

    init(bounds: [Double]) {
        self.bounds = bounds
        counts = [UInt64](repeating: 0, count: bounds.count + 1)
    }

    /// The number of values.
    package var count: UInt64 { counts.reduce(0, &+) }

    /// Counts a value; a bound belongs to the bucket below it.
    mutating func record(_ value: Double) {
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] &+= 1
        sum += value
    }
}
