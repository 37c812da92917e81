internal import Primitives
internal import StreamIO

/// New events of channels as bytes that all streams of a live group share.
struct Broadcast {
    /// The most bytes of a broadcast: more would delay everything else on the loop.
    private static let limit = 64 << 10

    let write: SharedWrite
    let events: Int
    /// When the first of them was published.
    let published: Moment

    /// The new events of a channel, for streams that are in its live group. Nil if there are none, if they are too large,
    /// or if they are not encoded in this variant.
    init?(of channel: ShardChannel, as variant: EventVariant, to streams: [StreamID]) {
        var reader = LiveGroupReader(channel)
        guard reader.nextSequence != nil else { return nil }
        published = reader.published
        var content = Content()
        while reader.nextSequence != nil {
            guard let piece = reader.take(before: .max, variant), content.append(piece) else { return nil }
        }
        events = channel.unsentCount
        write = SharedWrite(streams: streams, pieces: content.gathered)
    }

    /// The new events of channels, in one order, for streams that are in the live group of all of them. Nil if there
    /// are none, if they are too large, or if they are not encoded in these variants, one for each channel.
    init?(of channels: [ShardChannel], as variants: [EventVariant], to streams: [StreamID]) {
        var readers = channels.map(LiveGroupReader.init)
        var order = MergeOrder()
        for (place, reader) in readers.enumerated() { order.set(reader.nextSequence, at: place) }
        guard let first = order.first else { return nil }
        published = readers[first].published
        var content = Content()
        while let (place, until) = order.next() {
            guard let piece = readers[place].take(before: until, variants[place]), content.append(piece) else {
                return nil
            }
            order.set(readers[place].nextSequence, at: place)
        }
        events = channels.reduce(0) { $0 + $1.unsentCount }
        write = SharedWrite(streams: streams, pieces: content.gathered)
    }

    /// The new events of channels in one order, without the framing of HTTP, and the time of the first; nil as above.
    static func payload(
        of channels: [ShardChannel],
        as variants: [EventVariant]
    ) -> (payload: [UInt8], published: Moment)? {
        var readers = channels.map(LiveGroupReader.init)
        var order = MergeOrder()
        for (place, reader) in readers.enumerated() { order.set(reader.nextSequence, at: place) }
        guard let first = order.first else { return nil }
        let published = readers[first].published
        var payload: [UInt8] = []
        while let (place, until) = order.next() {
            guard readers[place].takePayload(before: until, variants[place], to: &payload), payload.count <= limit
            else { return nil }
            order.set(readers[place].nextSequence, at: place)
        }
        return (payload, published)
    }

    /// The pieces of a broadcast, as far as they are read.
    private struct Content {
        private var pieces: [StreamPiece] = []
        private var size = 0

        /// Adds a piece; false if the broadcast is too large.
        mutating func append(_ piece: StreamPiece) -> Bool {
            size += piece.bytes.count
            pieces.append(piece)
            return size <= Broadcast.limit
        }

        /// One piece: several are copied into one block, which costs less than a `writev` of them for each stream.
        var gathered: [StreamPiece] {
            if pieces.count == 1 { return pieces }
            let block = PrivateBytes(capacity: size)
            for piece in pieces { block.append(piece.bytes) }
            return [StreamPiece(owner: block, bytes: block.all)]
        }
    }
}

/// Reads the new events of a channel for its live groups, in pieces.
struct LiveGroupReader {
    private var segment: LogSegment
    private var index: Int
    private let view: LogView

    /// A reader at the position of the live groups.
    init(_ channel: ShardChannel) {
        segment = channel.livePosition.segment
        index = channel.livePosition.index
        view = channel.view
        skipReadSegments()
    }

    /// The sequence of the next event; nil if all is read.
    var nextSequence: UInt64? { index < end ? segment[index].sequence : nil }

    /// When the next event was published; there has to be one.
    var published: Moment { segment[index].published }

    /// Takes the events of the segment before a sequence, at least one; nil if they are not in this variant.
    mutating func take(before sequence: UInt64, _ variant: EventVariant) -> StreamPiece? {
        guard let buffer = segment.buffer(variant) else { return nil }
        let range = advance(before: sequence)
        let piece = StreamPiece(owner: buffer, bytes: buffer.chunks(of: range))
        skipReadSegments()
        return piece
    }

    /// As `take`, but appends the payloads alone; false if they are not encoded in this variant.
    mutating func takePayload(before sequence: UInt64, _ variant: EventVariant, to payload: inout [UInt8]) -> Bool {
        guard let buffer = segment.buffer(variant) else { return false }
        for index in advance(before: sequence) { payload += buffer.payload(at: index) }
        skipReadSegments()
        return true
    }

    private mutating func advance(before sequence: UInt64) -> Range<Int> {
        let first = index
        let isAll = sequence == .max || segment[end - 1].sequence < sequence
        index = isAll ? end : segment.index(after: sequence, in: index..<end)
        return first..<index
    }

    private var isTail: Bool { segment.number == view.tailNumber }

    /// Segments before the tail are sealed: their counts do not change any more.
    private var end: Int { isTail ? view.tailCount : segment.count }

    private mutating func skipReadSegments() {
        while !isTail, index == segment.count, let next = segment.next {
            segment = next
            index = 0
        }
    }
}
