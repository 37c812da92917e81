internal import Primitives

extension Formats: CustomStringConvertible {
    package var description: String { oldest == newest ? "\(oldest)" : "\(oldest) to \(newest)" }
}

extension Wire {
    /// A message that states its format, such as a call or a ticket: the format, then the value. A message with a layout of
    /// its own in a newer format is written in the format that the members write. Reading throws for a format that is not
    /// among some.
    package func stating(_ format: UInt8 = Formats.supported.newest, among formats: Formats = .supported) -> Wire {
        Wire { bytes, value in
            bytes.append(format)
            write(&bytes, value)
        } _: { reader throws(CodingError) in
            guard formats.contains(try reader.byte()) else { throw .malformed }
            return try read(&reader)
        }
    }
}

/// Bytes that violate the format.
package enum CodingError: Error, Equatable {
    /// The bytes end inside a value.
    case truncated
    /// A value is out of range, a kind is unknown, or bytes are left over.
    case malformed
}

/// The formats of the other processes, from their heartbeats.
struct HeardFormats: Sendable {
    private let own: Formats
    private var processes: [UInt64: (last: Heartbeat, heardAt: Moment)] = [:]
    /// Whether some of them are not those of this process.
    private(set) var areMixed = false

    init(own: Formats) { self.own = own }

    /// Adds the heartbeat of another process; reports new formats of which this process shares none.
    mutating func heard(_ heartbeat: Heartbeat, at now: Moment) -> [MemberAction] {
        let former = processes.updateValue((heartbeat, now), forKey: heartbeat.process)?.last.formats
        if heartbeat.formats != own { areMixed = true }
        guard former != heartbeat.formats, own.common(with: heartbeat.formats) == nil else { return [] }
        return [.reportOtherFormats(heartbeat.formats)]
    }

    /// The formats of a member that shares none with this process, and was heard since a time; nil: there is none.
    func refusal(since time: Moment) -> Formats? {
        processes.values.lazy.filter { $0.last.member != 0 && $0.heardAt >= time }.map(\.last.formats)
            .first { own.common(with: $0) == nil }
    }

    /// The formats out of a range that all processes heard since a time read as well. A process that reads none of the
    /// range cannot join and is left out.
    func common(with formats: Formats, since time: Moment) -> Formats {
        processes.values.reduce(formats) { common, process in
            guard process.heardAt >= time else { return common }
            return common.common(with: process.last.formats) ?? common
        }
    }

    /// Drops the processes that were not heard since a time.
    mutating func forget(before time: Moment) {
        processes = processes.filter { $0.value.heardAt >= time }
        areMixed = processes.values.contains { $0.last.formats != own }
    }
}
