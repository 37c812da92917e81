package import Primitives

/// Writes the frames of a member: each after the one before it was read back from the log.
struct FrameWriter: Sendable {
    /// A frame that was appended and not read from the log yet.
    private struct FrameInFlight {
        /// The number of the outbox's records up to its last one.
        let records: UInt64
        var frame: ClusterFrame
        let firstSentAt: Moment
        var sentAt: Moment
    }

    /// The maximum number of records of one frame, and their maximum size in bytes.
    private static let (frameRecords, frameBytes) = (256, 64 << 10)

    private var counter: UInt64 = 0
    private var inFlight: FrameInFlight?
    /// The number of the outbox's records that were taken for frames.
    private(set) var recordsTaken: UInt64 = 0
    /// The records of the machine, which are written before those of the outbox.
    var control: [ClusterRecord] = []
    /// The members whose removal was ordered.
    private(set) var removing: Set<UInt64> = []

    /// Whether the last frame was read from the log, so that the next one may be appended.
    var isIdle: Bool { inFlight == nil }

    /// When the frame in flight was sent first; nil: there is none.
    var waitingSince: Moment? { inFlight?.firstSentAt }

    /// Removes and returns the records of the next frame; nil if no record waits.
    ///
    /// - Parameters:
    ///   - isMember: Whether the process belongs to the cluster, so that it writes the records of the outbox.
    ///   - outbox: The reports of this process. Records of the machine that are too large for a frame are added.
    mutating func takeRecords(_ isMember: Bool, from outbox: inout Outbox) -> ArraySlice<UInt8>? {
        let own = takeControl(&outbox)
        if !own.isEmpty { return own }
        guard isMember, !outbox.isEmpty else { return nil }
        defer { recordsTaken = outbox.recordsFramed }
        return outbox.takeRecords(atMost: Self.frameRecords, bytes: Self.frameBytes)
    }

    /// The first of the machine's records, up to the limits of a frame but at least one. The outbox divides a record that is too
    /// large for a frame: the parts of two records must not mix.
    private mutating func takeControl(_ outbox: inout Outbox) -> ArraySlice<UInt8> {
        var (bytes, count): ([UInt8], Int) = ([], 0)
        for record in control.prefix(Self.frameRecords) {
            let body = record.body
            if body.count > Outbox.partSize {
                guard outbox.append(request: record) else { break }
            } else {
                let framed = ClusterRecord.framed(body)
                if !bytes.isEmpty, bytes.count + framed.count > Self.frameBytes { break }
                bytes += framed
            }
            count += 1
        }
        control.removeFirst(count)
        return bytes[...]
    }

    /// The bytes of a frame to append, which gets the next number.
    mutating func append(_ frame: ClusterFrame, at now: Moment) -> [UInt8] {
        counter += 1
        var frame = frame
        frame.counter = counter
        inFlight = FrameInFlight(records: recordsTaken, frame: frame, firstSentAt: now, sentAt: now)
        return frame.bytes
    }

    /// Whether a frame of the log is the one in flight.
    func isInFlight(_ frame: ClusterFrame?) -> Bool {
        guard let frame, let own = inFlight?.frame else { return false }
        return frame.member == own.member && frame.counter == own.counter
    }

    /// The frame in flight was read from the log. Returns the number of the outbox's records that the log has, and the time
    /// since the frame was sent first.
    mutating func read(at now: Moment) -> (records: UInt64, delay: Duration)? {
        inFlight.take().map { ($0.records, now - $0.firstSentAt) }
    }

    /// The bytes of the frame in flight, to append it again; nil if there is none, or if it was sent within `time`.
    ///
    /// - Parameter format: Another format of its records.
    mutating func repeated(after time: Duration = .zero, in format: UInt8? = nil, at now: Moment) -> [UInt8]? {
        guard let sentAt = inFlight?.sentAt, now - sentAt >= time else { return nil }
        inFlight?.sentAt = now
        if let format { inFlight?.frame.format = format }
        return inFlight?.frame.bytes
    }

    /// Orders the removal of a member, with the next frame: the other records may need several. The writer is a member, so that
    /// its `join` does not wait among them.
    mutating func remove(_ member: UInt64) {
        control.insert(.remove(member), at: 0)
        removing.insert(member)
    }

    mutating func removed(_ member: UInt64) { removing.remove(member) }

    /// The process becomes another member, whose frames are counted from 1.
    mutating func restart() { (counter, inFlight, control, removing) = (0, nil, [], []) }
}

/// The frames that a member appends.
extension MemberMachine {
    /// The next frame to append; nil if nothing waits, or if the previous frame was not read from the log yet.
    package mutating func nextFrame(from outbox: inout Outbox, at now: Moment) -> [UInt8]? {
        guard isFollowing, writer.isIdle, end.isConfirmed || confirmsEnd(at: now), let ledger else { return nil }
        if isMember, !reports.hasOwn { reports.wait(for: outbox) }
        if !readers.new.isEmpty, !isLeaving { writer.control += readers.declareNew() }
        if hasSuspects { removeSilent(at: now) }
        if outbox.hasOverflowed, isMember {
            // Dropped records cannot be recovered one by one: the member leaves and joins again.
            writer.control = []
            writer.remove(member)
        }
        guard let records = writer.takeRecords(isMember, from: &outbox) else { return nil }
        let frame = ClusterFrame(
            format: writtenFormat(at: now),
            member: member,
            epoch: ledger.epoch,
            previous: reader.position,
            digest: ledger.digest.value,
            payload: records
        )
        counters.framesAppended += 1
        return writer.append(frame, at: now)
    }

    /// The newest format that all members read, and the processes that are about to join.
    func writtenFormat(at now: Moment) -> UInt8 {
        let members = ledger?.formats?.common(with: formats) ?? formats
        return monitor.formats.areMixed
            ? monitor.formats.common(with: members, since: now - timings.suspect).newest : members.newest
    }

    /// A frame of this member was read from the log: the next one may be appended.
    mutating func ownFrameRead(_ entry: LogEntry, _ now: Moment) -> [MemberAction] {
        guard writer.isInFlight(entry.frame), let (records, delay) = writer.read(at: now) else { return [] }
        if !reports.hasOwn { reports.written(records) }
        counters.appendSeconds.record(delay / .seconds(1))
        return [.written(records)]
    }

    /// Appends the frame in flight again unless it was sent within `time`.
    mutating func resend(after time: Duration = .zero, in format: UInt8? = nil, at now: Moment) -> [MemberAction] {
        guard confirmsEnd(at: now), let bytes = writer.repeated(after: time, in: format, at: now) else { return [] }
        counters.framesRepeated += 1
        return [.append(bytes)]
    }
}
