internal import SessionCore

/// A shard's side of a channel: how far it may be read, and by whom.
///
/// Most readers have read everything whenever something comes, and have nothing else to be told. They are in step: what
/// comes goes to all of them as a broadcast, and none of them is looked at, for each look would cost more than what is
/// done. Whoever is not in step has a cursor of its own that is moved.
///
///     log      ── 7 ── 8 ── 9 ── 10        9 and 10 are new: a broadcast to those in step
///     in step            ▲
///     alone        ▲          (visited; in step again when it has read everything)
///
/// `@unchecked`: made under the hub's lock; used on the shard's thread only from then on.
final class ShardChannel: @unchecked Sendable {
    /// Broadcasts of more bytes would keep the loop from everything else.
    private static let broadcastLimit = 64 << 10

    /// The channel's id.
    let id: Int
    /// How far the log may be read.
    var view: LogView
    /// Where those in step stand.
    private(set) var stepPosition: LogPosition
    /// When something was broadcast last.
    private(set) var lastBroadcast: Moment?
    private var stepOrdinal: Int
    private var alone = CursorList()
    private var first = 0
    /// Those in step, by their variants.
    private var steps = [Step?](repeating: nil, count: EventVariant.count)

    private struct Step {
        var readers = CursorList()
        let totals = BroadcastTotals()
    }

    /// A channel that nobody reads yet.
    init(id: Int, view: LogView) {
        self.id = id
        self.view = view
        stepPosition = LogPosition(segment: view.tail, index: view.tailCount)
        stepOrdinal = view.endOrdinal
    }

    /// The log may be read up to this view; an older one than the present changes nothing.
    func advance(to view: LogView) {
        if (view.tailNumber, view.tailCount) > (self.view.tailNumber, self.view.tailCount) { self.view = view }
    }

    // MARK: - Readers

    /// Adds a reader.
    func add(_ cursor: Cursor) { alone.add(cursor) }

    /// Takes a reader out that is not in step.
    func remove(_ cursor: Cursor) { alone.remove(cursor) }

    /// Visits all readers that are not in step, each time from another one on, so that nobody is always the last.
    func forEachCursor(_ body: (Cursor) -> Void) {
        let cursors = alone.cursors
        guard !cursors.isEmpty else { return }
        first = (first + 1) % cursors.count
        for index in first..<cursors.count { body(cursors[index]) }
        for index in 0..<first { body(cursors[index]) }
    }

    // MARK: - In step

    /// Whether those in step have been given everything, so that one who has read everything can join them.
    var isStepAtEnd: Bool { stepOrdinal == view.endOrdinal }

    /// Visits all readers in step.
    func forEachInStep(_ body: (Cursor) -> Void) {
        for step in steps { step?.readers.cursors.forEach(body) }
    }

    /// A reader that has read everything falls in; what it is given from now on is added up in what this returns.
    func fallIn(_ cursor: Cursor, _ variant: EventVariant) -> BroadcastTotals {
        alone.remove(cursor)
        var step = steps[variant.index] ?? Step()
        steps[variant.index] = nil
        step.readers.add(cursor)
        steps[variant.index] = step
        return step.totals
    }

    /// A reader falls out: its next event is the first that was not broadcast.
    func fallOut(_ cursor: Cursor, _ variant: EventVariant) {
        steps[variant.index]?.readers.remove(cursor)
        alone.add(cursor)
    }

    /// Makes the broadcasts of what is new to those in step. Where that is too much, or there are no shared bytes of it,
    /// they fall out instead.
    func broadcast(now: Moment, _ body: (Broadcast) -> Void) {
        guard !isStepAtEnd else { return }
        for variant in EventVariant.all {
            guard let step = steps[variant.index], !step.readers.isEmpty else { continue }
            if let broadcast = broadcast(to: step.readers.tags, variant) {
                step.totals.add(events: broadcast.events, bytes: broadcast.pieces.reduce(0) { $0 + $1.bytes.count })
                lastBroadcast = now
                body(broadcast)
            } else {
                step.readers.cursors.forEach { $0.subscriber.fallOut() }
            }
        }
        stepPosition = LogPosition(segment: view.tail, index: view.tailCount)
        stepOrdinal = view.endOrdinal
    }

    private func broadcast(to tags: [Int], _ variant: EventVariant) -> Broadcast? {
        var pieces: [Broadcast.Piece] = []
        var published: Moment?
        var size = 0
        var position: LogPosition? = stepPosition
        while let (segment, index) = position.map({ ($0.segment, $0.index) }) {
            let isTail = segment.number == view.tailNumber
            // Before the tail segments are sealed: their counts do not change any more.
            let end = isTail ? view.tailCount : segment.count
            if index < end {
                guard let buffer = segment.buffer(variant) else { return nil }
                let bytes = buffer.bytes(from: index, until: end)
                size += bytes.count
                guard size <= Self.broadcastLimit else { return nil }
                pieces.append(Broadcast.Piece(bytes: bytes, owner: buffer))
                published = published ?? segment.published(at: index)
            }
            position = isTail ? nil : segment.next.map { LogPosition(segment: $0, index: 0) }
        }
        guard let published else { return nil }
        return Broadcast(tags: tags, pieces: pieces, events: view.endOrdinal - stepOrdinal, published: published)
    }
}
