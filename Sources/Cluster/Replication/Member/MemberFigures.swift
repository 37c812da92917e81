package import Primitives

/// The state of a member and of its cluster at a moment, for operators.
package struct MemberFigures: Sendable, Equatable {
    /// Another member, or this one.
    package struct Member: Sendable, Equatable {
        /// The number of the member.
        package let id: UInt64
        /// The information of the `join` record.
        package let info: MemberInfo
        /// The number of shared subscriptions that the member owns.
        package let subscriptions: Int
        /// Whether the digest of the configuration in its heartbeats differs from that of this member.
        package let hasOtherConfiguration: Bool
    }

    /// Whether there is a connection to the engine.
    package let isConnected: Bool
    /// Whether the member serves its own readers alone, because the engine is away.
    package let isDegraded: Bool
    /// Whether streams may be opened on the member.
    package let isServing: Bool
    /// The number of this member; nil while it does not belong to the cluster.
    package let member: UInt64?
    /// The present epoch; nil while it is not known.
    package let epoch: UInt64?
    /// The position up to which the log is applied.
    package let position: UInt64
    /// The last known position of the log.
    package let known: UInt64
    /// The time for which frames of the log have been missing here.
    package let lag: Duration
    /// All members, this one included, in the order of their numbers.
    package let members: [Member]
    /// The counters since the start of the process.
    package let counters: MemberCounters
}

extension MemberMachine {
    /// The figures of the member.
    package func figures(at now: Moment) -> MemberFigures {
        let owned = (ledger?.topics.byID ?? [:]).values.reduce(into: [UInt64: Int]()) { counts, topic in
            if let owner = topic.owner { counts[owner, default: 0] += 1 }
        }
        let members = (ledger?.members ?? [:]).sorted { $0.key < $1.key }.map { id, member in
            MemberFigures.Member(
                id: id,
                info: member.info,
                subscriptions: owned[id] ?? 0,
                hasOtherConfiguration: monitor.configurations[id].map { $0 != configuration } ?? false
            )
        }
        return MemberFigures(
            isConnected: phase != .offline && !isLocal,
            isDegraded: isLocal,
            isServing: isServing(at: now),
            member: isMember ? member : nil,
            epoch: ledger?.epoch,
            position: reader.position,
            known: reader.known,
            lag: reader.behindSince.map { now - $0 } ?? .zero,
            members: members,
            counters: counters
        )
    }
}

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
