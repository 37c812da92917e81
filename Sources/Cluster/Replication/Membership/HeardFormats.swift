internal import Primitives

/// The formats of the other processes, from their heartbeats.
struct HeardFormats: Sendable {
    private struct Process {
        let formats: Formats
        let isMember: Bool
        let heardAt: Moment
    }

    private var processes: [UInt64: Process] = [:]

    /// Adds the heartbeat of another process; reports new formats of which this member shares none.
    mutating func heard(_ heartbeat: Heartbeat, by own: Formats, at now: Moment) -> [MemberAction] {
        let former = processes[heartbeat.process]?.formats
        processes[heartbeat.process] = Process(
            formats: heartbeat.formats,
            isMember: heartbeat.member != 0,
            heardAt: now
        )
        guard former != heartbeat.formats, own.common(with: heartbeat.formats) == nil else { return [] }
        return [.reportOtherFormats(heartbeat.formats)]
    }

    /// The formats of a member that shares none with some formats, and was heard since a time; nil: there is none.
    func refusal(of own: Formats, since time: Moment) -> Formats? {
        processes.values.first { $0.isMember && $0.heardAt >= time && own.common(with: $0.formats) == nil }?.formats
    }

    /// The formats out of a range that all processes heard since a time read as well. A process that reads none of the
    /// range cannot join and is left out.
    func common(with formats: Formats, since time: Moment) -> Formats {
        processes.values.reduce(formats) { common, process in
            guard process.heardAt >= time else { return common }
            return common.common(with: process.formats) ?? common
        }
    }

    /// Drops the processes that were not heard since a time.
    mutating func forget(before time: Moment) { processes = processes.filter { $0.value.heardAt >= time } }
}
