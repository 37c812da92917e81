internal import SessionCore

/// The bytes of one variant of a segment's events: appended to, never moved, shared by all readers.
///
/// `@unchecked`: written under the hub's lock only, behind what any reader was told under that lock; what a reader was
/// told never changes again.
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

    /// The most bytes that framing adds to a payload: its length in hexadecimal and two line ends.
    static let chunkOverhead = 16 + 4

    /// Whether a payload of this size still fits.
    func hasRoom(for payload: Int) -> Bool { byteCapacity - used - Self.chunkOverhead >= payload }

    /// Appends the payload of the event at this index, and puts an HTTP chunk around it.
    func append(_ payload: [UInt8], at index: Int) {
        let chunkStart = used
        appendLength(payload.count)
        appendLineEnd()
        let payloadStart = used
        payload.withUnsafeBytes {
            (bytes + used).copyMemory(from: $0.baseAddress ?? UnsafeRawPointer(bytes), byteCount: $0.count)
        }
        used += payload.count
        let payloadEnd = used
        appendLineEnd()
        let frame = LogFrame(
            chunkStart: Int32(chunkStart),
            payloadStart: Int32(payloadStart),
            payloadEnd: Int32(payloadEnd),
            chunkEnd: Int32(used)
        )
        (frames + index).initialize(to: frame)
    }

    /// Where the event at this index lies.
    func frame(at index: Int) -> LogFrame { frames[index] }

    /// A range of the bytes.
    func bytes(from start: Int32, to end: Int32) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: bytes + Int(start), count: Int(end - start))
    }

    /// The chunks of the events in a range of indices, which must not be empty.
    func bytes(from first: Int, until end: Int) -> UnsafeRawBufferPointer {
        bytes(from: frames[first].chunkStart, to: frames[end - 1].chunkEnd)
    }

    private func appendLength(_ count: Int) {
        var shift = max(0, (Int.bitWidth - count.leadingZeroBitCount - 1) / 4) * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: (count >> shift) & 15)
            append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            shift -= 4
        }
    }

    private func appendLineEnd() {
        append(0x0D)
        append(0x0A)
    }

    private func append(_ byte: UInt8) {
        bytes.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
        used += 1
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
    /// The event itself: for conflation, and for variants that nobody read when it came.
    let event: HubEvent
}

/// Where one variant of an event lies in its buffer.
///
///     chunkStart      payloadStart                       payloadEnd   chunkEnd
///     │ 1a3 CR LF     │ event: update LF … LF LF         │ CR LF      │
struct LogFrame: Sendable {
    let chunkStart: Int32
    let payloadStart: Int32
    let payloadEnd: Int32
    let chunkEnd: Int32
}
