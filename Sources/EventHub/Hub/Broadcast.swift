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
