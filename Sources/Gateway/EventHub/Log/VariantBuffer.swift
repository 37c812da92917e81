internal import Primitives
internal import SessionCore
internal import StreamIO

/// The bytes of one variant of a segment's events: appended to, never moved, shared by all readers.
///
/// `@unchecked`: written under the hub's lock only, and only behind the part that any reader got under that lock. That
/// part never changes again.
final class VariantBuffer: @unchecked Sendable {
    private let bytes: UnsafeMutableRawPointer
    private let frames: UnsafeMutablePointer<LogFrame>
    private let byteCapacity: Int
    private var used = 0

    /// An empty buffer.
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

    /// Where the event at this index lies.
    func frame(at index: Int) -> LogFrame { frames[index] }

    /// A range of the bytes.
    func bytes(from start: Int, to end: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + start, count: end - start)
    }

    /// The chunks of the events in a range of indices, which must not be empty.
    func bytes(from first: Int, until end: Int) -> UnsafeRawBufferPointer {
        bytes(from: frames[first].chunkStart, to: frames[end - 1].chunkEnd)
    }
}

/// One event of a topic, as its log keeps it.
struct LogRecord: Sendable {
    /// The event's place in the order of all events of the hub.
    let sequence: UInt64
    /// When it was published.
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
