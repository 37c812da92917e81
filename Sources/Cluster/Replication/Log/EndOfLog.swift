internal import Primitives

/// Whether a member may write after the end of the log as it is read over the present connection. An engine that was restored from
/// an older copy may have lost frames that other members have read: other frames at their positions would have the same ids.
struct EndOfLog: Sendable {
    /// The longest wait for the other members.
    private static let patience = Duration.milliseconds(1500)

    /// Whether no other member has read further, as far as members have said so in time.
    private(set) var isConfirmed = false
    /// Up to where members had applied an epoch when they were heard first over the connection: later frames are in the log.
    private var heard: [UInt64: (epoch: UInt64, position: UInt64)] = [:]
    /// The time since which this member can hear the others; nil: heartbeats do not arrive.
    private var hearingSince: Moment?

    mutating func connected() { self = EndOfLog() }

    /// The log is read from another position on.
    mutating func restart() { isConfirmed = false }

    /// A member has stated up to where it has applied the log.
    mutating func heard(_ heartbeat: Heartbeat) {
        guard heard[heartbeat.member]?.epoch != heartbeat.epoch else { return }
        heard[heartbeat.member] = (heartbeat.epoch, heartbeat.position)
    }

    /// The greatest position that members have stated in an epoch.
    func stated(in epoch: UInt64) -> UInt64 { heard.values.reduce(0) { $1.epoch == epoch ? max($0, $1.position) : $0 } }

    /// Confirms the end once all other members were heard, or have had the time after which silent members are removed.
    ///
    /// - Parameters:
    ///   - position: The position up to which this member has applied the log of the epoch.
    ///   - isHearing: Whether this member hears other members.
    mutating func confirm(
        _ others: some Sequence<UInt64>,
        of epoch: UInt64,
        upTo position: UInt64,
        isHearing: Bool,
        suspect: Duration,
        at now: Moment
    ) {
        hearingSince = isHearing ? hearingSince ?? now : nil
        let isLate = hearingSince.map { now - $0 >= min(suspect, Self.patience) } ?? false
        isConfirmed = position >= stated(in: epoch) && (isLate || others.allSatisfy { heard[$0]?.epoch == epoch })
    }
}

extension MemberMachine {
    /// Whether this member may write after the end of the log (see `EndOfLog`).
    mutating func confirmsEnd(at now: Moment) -> Bool {
        guard !end.isConfirmed, let ledger else { return end.isConfirmed }
        let others = ledger.members.lazy.filter { [process] in $0.value.info.process != process }.map(\.key)
        end.confirm(
            others,
            of: ledger.epoch,
            upTo: reader.position,
            isHearing: monitor.isHearing(at: now),
            suspect: timings.suspect,
            at: now
        )
        return end.isConfirmed
    }

    /// Appends the frame in flight again if the end of the log is confirmed now.
    mutating func resendAtConfirmedEnd(at now: Moment) -> [MemberAction] { end.isConfirmed ? [] : resend(at: now) }
}
