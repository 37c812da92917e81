internal import SessionCore

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
