internal import Primitives
internal import StreamIO

/// A part of a topic's log: records, and their bytes in the variants that are read. Appended to, never moved.
///
/// `@unchecked`: appended to and linked under the hub's lock only. A reader gets a `LogView` under that lock and
/// accesses only the part before its end, which never changes again. It follows `next` only if that end lies beyond the
/// segment.
final class LogSegment: @unchecked Sendable {
    /// The number of segments before it.
    let number: Int
    /// The totals of the topic before the first event of this segment.
    let before: LogTotals
    /// The common parts of the segment's events. Changed only while there are none and no reader knows the segment.
    var context: TopicContext
    /// How many events the segment can hold.
    let capacity: Int
    /// How many bytes each buffer can hold.
    let byteCapacity: Int
    private(set) var count = 0
    var next: LogSegment?

    private let memory: StreamMemory
    /// The approximate size in bytes.
    private(set) var size: Int
    private let records: UnsafeMutablePointer<LogRecord>
    private let buffers: [VariantBuffer?]
    /// The variants that the segment holds, with their buffers.
    let held: [(variant: EventVariant, buffer: VariantBuffer)]

    /// An empty segment that holds the variants with readers, whose numbers are in the order of `EventVariant.all`.
    init(
        number: Int,
        before: LogTotals,
        context: TopicContext,
        readers: [Int],
        capacity: Int,
        byteCapacity: Int,
        memory: StreamMemory
    ) {
        self.memory = memory
        self.number = number
        self.before = before
        self.context = context
        self.capacity = capacity
        self.byteCapacity = byteCapacity
        records = .allocate(capacity: capacity)
        var buffers = [VariantBuffer?](repeating: nil, count: readers.count)
        var held: [(variant: EventVariant, buffer: VariantBuffer)] = []
        for (index, count) in readers.enumerated() where count > 0 {
            let buffer = VariantBuffer(byteCapacity: byteCapacity, frameCapacity: capacity)
            buffers[index] = buffer
            held.append((EventVariant.all[index], buffer))
        }
        (self.buffers, self.held) = (buffers, held)
        let frames = capacity * MemoryLayout<LogFrame>.stride
        size = capacity * MemoryLayout<LogRecord>.stride + held.count * (byteCapacity + frames)
        memory.addLog(size)
    }

    deinit {
        records.deinitialize(count: count)
        records.deallocate()
        memory.addLog(-size)
        // Without this, a long chain would be freed by recursion deeper than the stack.
        var rest = next
        next = nil
        while let segment = rest, isKnownUniquelyReferenced(&rest) {
            rest = segment.next
            segment.next = nil
        }
    }

    /// The buffer of a variant; nil if the variant had no reader when the segment began.
    func buffer(_ variant: EventVariant) -> VariantBuffer? { buffers[variant.index] }

    /// The record at an index, read in place.
    subscript(index: Int) -> LogRecord { _read { yield records[index] } }

    /// The index of the first record behind a sequence, out of those in the range; its end if there is none.
    func index(after sequence: UInt64, in range: Range<Int>) -> Int {
        range.partitioningIndex { records[$0].sequence > sequence }
    }

    /// Appends an event of a weight, its row included; its payloads were appended to the buffers at `count` before.
    func append(_ record: LogRecord, weight: Int) {
        (records + count).initialize(to: record)
        count += 1
        size += weight
        memory.addLog(weight)
    }
}

/// The bytes of one variant of a segment's events: appended to, never moved, shared by all readers.
///
/// `@unchecked`: written under the hub's lock only, and only behind the part that any reader got under that lock. That
/// part never changes again.
final class VariantBuffer: @unchecked Sendable {
    private let bytes: UnsafeMutableRawPointer
    private let frames: UnsafeMutablePointer<LogFrame>
    private let byteCapacity: Int
    private var used = 0

    init(byteCapacity: Int, frameCapacity: Int) {
        self.byteCapacity = byteCapacity
        bytes = .allocate(byteCount: byteCapacity, alignment: 1)
        frames = .allocate(capacity: frameCapacity)
    }

    deinit {
        bytes.deallocate()
        frames.deallocate()
    }

    /// Whether a payload of this size still fits.
    func hasRoom(for payload: Int) -> Bool { byteCapacity - used - ChunkFraming.overhead >= payload }

    /// Appends the payload of the event at this index, and puts an HTTP chunk around it.
    func append(_ payload: [UInt8], at index: Int) {
        let start = used
        let written = ChunkFraming.write(payload, to: bytes + start)
        used += written.chunk.count
        let frame = LogFrame(
            chunkStart: start,
            payloadStart: start + written.payload.lowerBound,
            payloadEnd: start + written.payload.upperBound,
            chunkEnd: used
        )
        (frames + index).initialize(to: frame)
    }

    func frame(at index: Int) -> LogFrame { frames[index] }

    /// The event at this index, without its chunk.
    func payload(at index: Int) -> UnsafeRawBufferPointer {
        let frame = frames[index]
        return UnsafeRawBufferPointer(start: bytes + frame.payloadStart, count: frame.payloadEnd - frame.payloadStart)
    }

    /// The chunks of the events in a range of indices, which must not be empty.
    func chunks(of range: Range<Int>) -> UnsafeRawBufferPointer {
        let start = frames[range.lowerBound].chunkStart
        return UnsafeRawBufferPointer(start: bytes + start, count: frames[range.upperBound - 1].chunkEnd - start)
    }
}

/// The totals of a topic up to a place in its log.
struct LogTotals {
    var events: Int
    /// The weight of the events: their encoded size, or an approximation where they are not encoded.
    var weight: Int
    /// The weight of the whole rows of updates beyond `weight`: few fields of a row may be encoded.
    var rows: Int
    /// The weight of those events that are the first values of rows.
    var firstValues: Int
    /// The approximate size of the segments, in bytes.
    var size: Int
}

/// One event of a topic, as its log keeps it.
struct LogRecord: Sendable {
    /// The event's place in the order of all events of the hub.
    let sequence: UInt64
    let published: Moment
    /// The weight of all events of the topic before it.
    let offset: Int
    /// The event itself: for conflation, and for variants that had no reader when it was published.
    let event: HubEvent
}

/// Where one variant of an event lies in its buffer.
///
///     chunkStart      payloadStart                       payloadEnd   chunkEnd
///     │ 1a3 CR LF     │ event: update LF … LF LF         │ CR LF      │
struct LogFrame: Sendable {
    let chunkStart: Int
    let payloadStart: Int
    let payloadEnd: Int
    let chunkEnd: Int
}

extension Range<Int> {
    /// The first number of which a condition holds that holds of all numbers behind as well; the end if there is none.
    func partitioningIndex(where condition: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = (low + high) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
