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
    var isStepAtEnd: Bool { newsCount == 0 }

    /// How many events those in step have not been given.
    var newsCount: Int { view.endOrdinal - stepOrdinal }

    /// The streams in step.
    var liveReaders: [Subscriber] { steps.flatMap { $0?.readers.cursors.map(\.subscriber) ?? [] } }

    /// A reader that has read everything falls in; what it is given from now on is added up in what this returns.
    func joinLiveGroup(_ cursor: Cursor, _ variant: EventVariant) -> BroadcastTotals {
        alone.remove(cursor)
        var step = steps[variant.index] ?? Step()
        steps[variant.index] = nil
        step.readers.add(cursor)
        steps[variant.index] = step
        return step.totals
    }

    /// A reader falls out: its next event is the first that was not broadcast.
    func leaveLiveGroup(_ cursor: Cursor, _ variant: EventVariant) {
        steps[variant.index]?.readers.remove(cursor)
        alone.add(cursor)
    }

    /// Visits the readers in step of each variant that has any.
    func forEachStep(_ body: (CursorList, EventVariant) -> Void) {
        for variant in EventVariant.all {
            if let readers = steps[variant.index]?.readers, !readers.isEmpty { body(readers, variant) }
        }
    }

    /// Those in step were given what is new, as far as they did not fall out: they stand at the end.
    func moveStep(now: Moment) {
        guard !isStepAtEnd else { return }
        for variant in EventVariant.all {
            guard let step = steps[variant.index], !step.readers.isEmpty else { continue }
            step.totals.add(events: newsCount, bytes: bytesSinceStep(variant))
            lastBroadcast = now
        }
        stepPosition = LogPosition(segment: view.tail, index: view.tailCount)
        stepOrdinal = view.endOrdinal
    }

    private func bytesSinceStep(_ variant: EventVariant) -> Int {
        var reader = NewsReader(self)
        var count = 0
        while reader.nextSequence != nil, let piece = reader.take(before: .max, variant) { count += piece.bytes.count }
        return count
    }
}
