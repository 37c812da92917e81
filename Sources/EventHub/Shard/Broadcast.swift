internal import SessionCore

/// Events that many streams get in the same bytes: all those that keep up and have nothing else to be told.
package struct Broadcast {
    /// A broadcast of more bytes would keep the loop from everything else.
    private static let limit = 64 << 10

    /// A range of bytes, which neither change nor move while the owner lives.
    package struct Piece {
        /// The bytes, framed in HTTP chunks.
        package let bytes: UnsafeRawBufferPointer
        /// Keeps them.
        package let owner: AnyObject
    }

    /// The streams, by their tags.
    package let tags: [Int]
    /// The bytes, in order.
    package let pieces: [Piece]
    /// How many events they are.
    let events: Int
    /// When the first of them was published.
    let published: Moment

    /// What is new in channels, in one order, for those who are in step in all of them; nil if that is nothing, or too
    /// much, or nobody wrote this variant of it.
    init?(of channels: [ShardChannel], as variant: EventVariant, to tags: [Int]) {
        var readers = channels.map(NewsReader.init)
        var turns = MergeTurns()
        for reader in readers { turns.append(reader.nextSequence) }
        guard let (first, _) = turns.next() else { return nil }
        published = readers[first].published
        var pieces: [Piece] = []
        var size = 0
        while let (place, until) = turns.next() {
            guard let piece = readers[place].take(before: until, variant) else { return nil }
            size += piece.bytes.count
            guard size <= Self.limit else { return nil }
            pieces.append(piece)
            turns.set(readers[place].nextSequence, at: place)
        }
        events = channels.reduce(0) { $0 + $1.newsCount }
        self.pieces = pieces.count == 1 ? pieces : [Self.gathered(pieces, size)]
        self.tags = tags
    }

    /// The pieces in one: copied once, which costs less than to have the system gather them for each stream.
    private static func gathered(_ pieces: [Piece], _ size: Int) -> Piece {
        let block = PrivateBytes(capacity: size)
        for piece in pieces { block.append(piece.bytes) }
        return Piece(bytes: block.all, owner: block)
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
    mutating func take(before sequence: UInt64, _ variant: EventVariant) -> Broadcast.Piece? {
        guard let buffer = segment.buffer(variant) else { return nil }
        let first = index
        let isAll = sequence == .max || segment.sequence(at: end - 1) < sequence
        index = isAll ? end : segment.index(after: sequence, in: index..<end)
        let piece = Broadcast.Piece(bytes: buffer.bytes(from: first, until: index), owner: buffer)
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
