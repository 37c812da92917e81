internal import Changes
internal import Primitives
internal import SessionCore
internal import StreamIO

/// The events of one topic: the newest ones for streams that resume, and older ones while a late reader needs them.
/// Used under the hub's lock.
///
///     head ──▶ segment ──▶ segment ──▶ tail
///              ▲ a reader holds the segment it reads, and by it all that follow
struct TopicLog {
    private var head: LogSegment
    private var tail: LogSegment
    private(set) var context: TopicContext
    /// The types of the fields for typed variants; nil: they are not known.
    var types: [FieldType]?
    /// How many readers each variant has.
    private var readers = [Int](repeating: 0, count: EventVariant.count)
    /// The totals of all events so far, and the size of the segments before the last one.
    private var totals = LogTotals(events: 0, weight: 0, rows: 0, firstValues: 0, size: 0)
    private var memory: StreamMemory
    /// Whether events are kept for streams that resume: since the first reader, if not from the start.
    private var hasWindow: Bool
    /// The last event that is kept, which may lie before the last segment.
    private var last: (sequence: UInt64, published: Moment)?
    /// The events up to this sequence cannot be read from the log any more.
    private(set) var forgottenThrough: UInt64 = 0
    /// The sequence of the hub when the topic was created; 0 where another hub created it.
    private(set) var createdAt: UInt64

    /// The capacities of a segment: they start small, so that a quiet topic costs little, and double as it is used.
    private enum Size {
        static let firstEvents = 4
        static let mostEvents = 256
        static let firstBytes = 1 << 10
        static let mostBytes = 1 << 16
        /// The weight, rows included, from which a segment takes no more events: a window has whole segments.
        static let mostWeight = 1 << 18
    }

    init(context: TopicContext, createdAt: UInt64, hasWindow: Bool, memory: StreamMemory) {
        self.memory = memory
        self.hasWindow = hasWindow
        self.context = context
        self.createdAt = createdAt
        head = LogSegment(
            number: 0,
            before: totals,
            context: context,
            readers: readers,
            capacity: Size.firstEvents,
            byteCapacity: Size.firstBytes,
            memory: memory
        )
        tail = head
    }

    /// The part that may be read now.
    var view: LogView {
        var totals = totals
        totals.size += tail.size
        return LogView(tail: tail, tailCount: tail.count, tailNumber: tail.number, totals: totals)
    }

    /// The part up to a sequence, out of what may be read now.
    func view(through sequence: UInt64) -> LogView {
        guard let last, last.sequence > sequence, let end = position(after: sequence) else { return view }
        var totals = end.segment.before
        totals.events += end.index
        totals.weight = end.segment[end.index].offset
        totals.size += end.segment.size
        return LogView(tail: end.segment, tailCount: end.index, tailNumber: end.segment.number, totals: totals)
    }

    /// The place behind the last event.
    var end: LogPosition { LogPosition(segment: tail, index: tail.count) }

    var lastSequence: UInt64? { last?.sequence }

    /// The place behind an event; nil if not all later events are kept.
    func position(after sequence: UInt64) -> LogPosition? {
        guard sequence >= forgottenThrough else { return nil }
        var segment = head
        while true {
            let index = segment.index(after: sequence, in: 0..<segment.count)
            if index < segment.count { return LogPosition(segment: segment, index: index) }
            guard let next = segment.next else { return LogPosition(segment: segment, index: segment.count) }
            segment = next
        }
    }

    /// The number of events after a sequence; nil if not all of them are kept.
    func count(after sequence: UInt64) -> Int? {
        position(after: sequence).map { totals.events - $0.segment.before.events - $0.index }
    }

    /// The sequence of the last event that was published before a time, or the one at which the log begins; nil if
    /// later events than that are not kept.
    func sequence(before time: Moment) -> UInt64? {
        var last = max(forgottenThrough, createdAt)
        // The time of the events that were dropped is not known: one of those that are kept has to be older.
        var isCovered = forgottenThrough == 0
        var segment: LogSegment? = head
        while let present = segment {
            for index in 0..<present.count {
                guard present[index].published < time else { return isCovered ? last : nil }
                last = max(last, present[index].sequence)
                isCovered = true
            }
            segment = present.next
        }
        return isCovered ? last : nil
    }

    /// The sequence of the last event up to another sequence, or a later one from which on the log has all events: at most the
    /// other sequence.
    func lastSequence(through sequence: UInt64) -> UInt64 {
        var found = max(forgottenThrough, createdAt)
        var segment: LogSegment? = head
        while let present = segment, found < sequence {
            let count = present.index(after: sequence, in: 0..<present.count)
            if count > 0 { found = max(found, present[count - 1].sequence) }
            segment = count == present.count ? present.next : nil
        }
        return min(found, sequence)
    }

    // MARK: - Readers

    /// Adds a reader of a variant: events are encoded in that variant from now on.
    mutating func addReader(_ variant: EventVariant) {
        readers[variant.index] += 1
        hasWindow = true
        if tail.buffer(variant) == nil { roll(capacity: Size.firstEvents, byteCapacity: Size.firstBytes) }
    }

    /// Removes a reader. If it was the last one of its variant, segments from the next one on leave the variant out.
    mutating func removeReader(_ variant: EventVariant) { readers[variant.index] -= 1 }

    // MARK: - Events

    mutating func setContext(_ context: TopicContext) {
        self.context = context
        if !hasWindow, tail.count == 0 {
            // Without a window there has been no reader: no other thread knows the segment.
            tail.context = context
        } else {
            roll(capacity: tail.capacity, byteCapacity: min(Size.mostBytes, tail.byteCapacity))
        }
    }

    /// Appends an event, encoded once for each variant that is read. Without a window the first events alone are kept.
    mutating func append(
        _ event: HubEvent,
        sequence: UInt64,
        now: Moment,
        encoder: inout EventEncoder,
        limits: HubConfiguration
    ) {
        if !hasWindow {
            guard forgottenThrough == 0, totals.events < First.events, totals.weight < First.weight else {
                return pass(through: sequence)
            }
        }
        var size = 0
        if tail.count == tail.capacity {
            grow(for: 0)
        } else if totals.weight - tail.before.weight + totals.rows - tail.before.rows >= Size.mostWeight {
            roll(capacity: tail.capacity, byteCapacity: min(Size.mostBytes, tail.byteCapacity))
        }
        for (variant, buffer) in tail.held {
            encoder.encode(event, sequence: sequence, of: context, as: variant, types)
            let length = encoder.json.bytes.count
            size = max(size, length)
            if !buffer.hasRoom(for: length) {
                grow(for: length)
                return append(event, sequence: sequence, now: now, encoder: &encoder, limits: limits)
            }
            buffer.append(encoder.json.bytes, at: tail.count)
        }
        let eventWeight = size > 0 ? size : event.weight
        let row = max(0, event.rowWeight - eventWeight)
        let record = LogRecord(sequence: sequence, published: now, offset: totals.weight, event: event)
        tail.append(record, weight: eventWeight + row)
        totals.events += 1
        totals.weight += eventWeight
        totals.rows += row
        last = (sequence, now)
        if case .subscription(.update(let update)) = event, update.isSnapshot, context.policy.conflates,
            update.command == nil || update.commandForReader == "ADD"
        {
            totals.firstValues += eventWeight
        }
        trim(limits)
    }

    // MARK: - Window

    /// The first events, which a topic without a window keeps: a stream that is about to open starts with them.
    private enum First {
        static let events = 8
        static let weight = 4 << 10
    }

    /// Whether events of this weight would not be kept: no stream has read the topic, and they are too many for one that is
    /// about to open.
    func canSkip(weight: Int) -> Bool { !hasWindow && weight >= First.weight }

    /// The event with this sequence is not kept, nor are those before it.
    mutating func pass(through sequence: UInt64) {
        if lastSequence == nil {
            forgottenThrough = sequence
        } else {
            forget(through: sequence, createdAt: createdAt)
        }
    }

    /// Counts segments from the next one on towards another budget.
    mutating func count(in memory: StreamMemory) { self.memory = memory }

    /// Drops all events. Those up to this sequence can no longer be read.
    mutating func forget(through sequence: UInt64, createdAt: UInt64) {
        roll(capacity: Size.firstEvents, byteCapacity: Size.firstBytes)
        head = tail
        last = nil
        forgottenThrough = sequence
        self.createdAt = createdAt
    }

    var lastPublished: Moment? { last?.published }

    /// Drops all events: a stream that resumes before the next one has a gap.
    mutating func dropWindow() { forget(through: lastSequence ?? forgottenThrough, createdAt: createdAt) }

    // MARK: - Segments

    private mutating func grow(for payload: Int) {
        // All variants share one capacity. It has room for this payload, so the next attempt does not fail for it.
        let bytes = min(Size.mostBytes, tail.byteCapacity * 2)
        roll(
            capacity: hasWindow ? min(Size.mostEvents, tail.capacity * 2) : Size.firstEvents,
            byteCapacity: max(bytes, payload + ChunkFraming.overhead)
        )
    }

    private mutating func roll(capacity: Int, byteCapacity: Int) {
        totals.size += tail.size
        let segment = LogSegment(
            number: tail.number + 1,
            before: totals,
            context: context,
            readers: readers,
            capacity: capacity,
            byteCapacity: byteCapacity,
            memory: memory
        )
        tail.next = segment
        tail = segment
    }

    private mutating func trim(_ limits: HubConfiguration) {
        while head !== tail, let next = head.next {
            if head.count > 0 {
                guard next.count > 0 || next.next != nil else { return }
                let events = totals.events - next.before.events
                let bytes = totals.weight - next.before.weight + totals.rows - next.before.rows
                if events < limits.replayEvents, bytes < limits.replayBytes { return }
                forgottenThrough = head[head.count - 1].sequence
            }
            head = next
        }
    }
}

/// A position in a log: the next event to read.
struct LogPosition: Sendable {
    var segment: LogSegment
    /// The index in it; its count if the next event is not there yet.
    var index: Int
}

/// The part of a log that a reader may read: taken under the hub's lock, used without it.
struct LogView: Sendable {
    let tail: LogSegment
    /// The number of its events that may be read.
    let tailCount: Int
    let tailNumber: Int
    /// The totals of the topic up to the end of this part; those of first values may be up to the last segment.
    let totals: LogTotals

    /// Whether the view ends behind a place of the log: an index in the segment with a number.
    func endsBehind(_ number: Int, _ index: Int) -> Bool { (tailNumber, tailCount) > (number, index) }
}
