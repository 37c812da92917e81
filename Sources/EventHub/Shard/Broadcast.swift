internal import SessionCore
internal import StreamIO

/// Events that many streams get in the same bytes: all those that keep up and have nothing else to be told.
struct Broadcast {
    /// A broadcast of more bytes would keep the loop from everything else.
    private static let limit = 64 << 10

    /// The bytes and the streams that get them.
    let write: SharedWrite
    /// How many events they are.
    let events: Int
    /// When the first of them was published.
    let published: Moment

    /// What is new in channels, in one order, for those who are in step in all of them; nil if that is nothing, or too
    /// much, or nobody wrote this variant of it.
    init?(of channels: [ShardChannel], as variant: EventVariant, to streams: [StreamID]) {
        var readers = channels.map(NewsReader.init)
        var turns = MergeTurns()
        for reader in readers { turns.append(reader.nextSequence) }
        guard let (first, _) = turns.next() else { return nil }
        published = readers[first].published
        var pieces: [StreamPiece] = []
        var size = 0
        while let (place, until) = turns.next() {
            guard let piece = readers[place].take(before: until, variant) else { return nil }
            size += piece.bytes.count
            guard size <= Self.limit else { return nil }
            pieces.append(piece)
            turns.set(readers[place].nextSequence, at: place)
        }
        events = channels.reduce(0) { $0 + $1.newsCount }
        write = SharedWrite(streams: streams, pieces: pieces.count == 1 ? pieces : [Self.gathered(pieces, size)])
    }

    /// The pieces in one: copied once, which costs less than to have the system gather them for each stream.
    private static func gathered(_ pieces: [StreamPiece], _ size: Int) -> StreamPiece {
        let block = PrivateBytes(capacity: size)
        for piece in pieces { block.append(piece.bytes) }
        return StreamPiece(owner: block, bytes: block.all)
    }
}

/// Reads what is new in a channel for all who are in step there, in pieces.
struct NewsReader {
    private var segment: LogSegment
    private var index: Int
    private let view: LogView

    /// A reader that stands where those in step stand.
    init(_ channel: ShardChannel) {
        segment = channel.stepPosition.segment
        index = channel.stepPosition.index
        view = channel.view
        leaveWhatIsRead()
    }

    /// The sequence of the next event; nil if all is read.
    var nextSequence: UInt64? { index < end ? segment.sequence(at: index) : nil }

    /// When the next event was published; there has to be one.
    var published: Moment { segment.published(at: index) }

    /// Takes the events of the present segment before a sequence, at least one; nil if nobody wrote this variant of them.
    mutating func take(before sequence: UInt64, _ variant: EventVariant) -> StreamPiece? {
        guard let buffer = segment.buffer(variant) else { return nil }
        let first = index
        let isAll = sequence == .max || segment.sequence(at: end - 1) < sequence
        index = isAll ? end : segment.index(after: sequence, in: index..<end)
        let piece = StreamPiece(owner: buffer, bytes: buffer.bytes(from: first, until: index))
        leaveWhatIsRead()
        return piece
    }

    private var isTail: Bool { segment.number == view.tailNumber }

    /// Segments before the tail are sealed: their counts do not change any more.
    private var end: Int { isTail ? view.tailCount : segment.count }

    private mutating func leaveWhatIsRead() {
        while !isTail, index == segment.count, let next = segment.next {
            segment = next
            index = 0
        }
    }
}

/// Whose turn it is when channels are merged: a place for each, with the sequence of its next event.
struct MergeTurns {
    private var sequences: [UInt64] = []

    /// No channels.
    init() {}

    /// Adds a channel by the sequence of its next event; nil: it has none.
    mutating func append(_ sequence: UInt64?) { sequences.append(sequence ?? .max) }

    /// A channel went on.
    mutating func set(_ sequence: UInt64?, at place: Int) { sequences[place] = sequence ?? .max }

    /// Forgets all channels, keeps the memory.
    mutating func removeAll() { sequences.removeAll(keepingCapacity: true) }

    /// The channel with the oldest event, and the sequence at which another has its turn; nil if there are no events.
    func next() -> (place: Int, until: UInt64)? {
        var place = 0
        var least = UInt64.max
        var until = UInt64.max
        for index in sequences.indices {
            let sequence = sequences[index]
            if sequence < least {
                until = least
                least = sequence
                place = index
            } else if sequence < until {
                until = sequence
            }
        }
        return least == .max ? nil : (place, until)
    }
}
