internal import SessionCore

/// A shard's side of a channel: the part that may be read, and its readers.
///
/// Most readers have read everything when a new event arrives, and nothing else is pending for them. They form the live
/// groups of the channel, one for each variant: new events go to all of them as a broadcast, without a visit to any
/// reader, since a visit costs more than the write itself. Every other reader has a cursor of its own.
///
///     log      ── 7 ── 8 ── 9 ── 10        9 and 10 are new: a broadcast to the live groups
///     live               ▲
///     late         ▲          (visited; joins the live group when it has read everything)
///
/// `@unchecked`: made under the hub's lock; used from then on by the thread that uses the shard.
final class ShardChannel: @unchecked Sendable {
    let id: Int
    /// The newest event that a reader of the channel has received before earlier ones.
    let newestAheadOfID: NewestAheadOfID
    /// The part of the log that all readers may read. The views of all channels of a shard belong to the same moment: a reader
    /// of several channels gets the events of these channels in order.
    var view: LogView { didSet { ranges.removeAll(keepingCapacity: true) } }
    /// Unread events up to the end of the view, conflated for late readers, by their first event; nil where they cannot be
    /// shared.
    private var ranges: [Int: [PendingEntry]?] = [:]
    /// The most ranges that are kept, and the most updates of one.
    private static let mostRanges = (count: 16, updates: 1024)
    private(set) var livePosition: LogPosition
    private(set) var lastBroadcast: Moment?
    private var liveOrdinal: Int
    private var late = ReaderList<Cursor>()
    private var first = 0
    /// The live groups, one for each variant that had a reader.
    private(set) var liveGroups: [LiveGroup] = []

    private(set) var compressedGroups: [CompressedGroup] = []

    init(id: Int, view: LogView, _ newestAheadOfID: NewestAheadOfID) {
        self.id = id
        self.newestAheadOfID = newestAheadOfID
        self.view = view
        livePosition = LogPosition(segment: view.tail, index: view.tailCount)
        liveOrdinal = view.totals.events
    }

    /// Takes over a view that has no further events, only another segment, which a stream of another form has begun: its readers
    /// can join the live groups at once.
    func advance(toEmpty view: LogView) {
        guard view.totals.events == self.view.totals.events, view.endsBehind(self.view.tailNumber, self.view.tailCount)
        else { return }
        self.view = view
    }

    // MARK: - Readers

    /// Adds a reader that is in no group.
    func add(_ cursor: Cursor) { late.add(cursor) }

    /// Removes a reader that is not in a live group, or joins a compressed one.
    func remove(_ cursor: Cursor) { late.remove(cursor) }

    /// All readers that are not in a live group. Each call has another reader as the first, for fairness.
    func lateReaders() -> FlattenSequence<[ArraySlice<Cursor>]> {
        let cursors = late.all
        guard !cursors.isEmpty else { return [].joined() }
        first = (first + 1) % cursors.count
        return [cursors[first...], cursors[..<first]].joined()
    }

    /// The readers that are not in a live group have new events to read.
    func listLateReaders() { for cursor in late.all { cursor.subscriber.cursors.list(cursor) } }

    /// The unread events of a reader, conflated for all readers at its place; nil if each has to conflate them.
    func conflated(from cursor: Cursor) -> [PendingEntry]? {
        let start = cursor.ordinal
        if let known = ranges[start] { return known }
        guard late.all.count > 1, ranges.count < Self.mostRanges.count else { return nil }
        // A reader of its own, as its state is changed.
        let reader = Cursor(
            subscriber: cursor.subscriber,
            channel: self,
            variant: cursor.variant,
            position: LogPosition(segment: cursor.segment, index: cursor.index)
        )
        var pending = PendingEvents(window: PendingEvents.Window(events: .max, weight: .max))
        while !reader.isAtEnd, pending.count <= Self.mostRanges.updates {
            let segment = reader.segment
            for index in reader.index..<reader.readableEnd() {
                _ = pending.append(
                    segment[index].event,
                    sequence: segment[index].sequence,
                    context: segment.context,
                    channel: id,
                    conflating: .all
                )
            }
            reader.index = reader.readableEnd()
        }
        let shared = pending.count <= Self.mostRanges.updates ? pending.shared : nil
        ranges[start] = .some(shared)
        return shared
    }

    // MARK: - Live groups

    /// Whether the live groups have every event, so that a reader at the end can join.
    var isLiveGroupAtEnd: Bool { unsentCount == 0 }

    /// The number of events that were not sent to the live groups.
    var unsentCount: Int { view.totals.events - liveOrdinal }

    var liveReaders: [Subscriber] { liveGroups.flatMap { $0.readers.all.map(\.subscriber) } }

    /// Moves a reader that has read everything to the live group of its variant. Returns the totals to which the
    /// group's broadcasts are added.
    func joinLiveGroup(_ cursor: Cursor) -> BroadcastCounters {
        late.remove(cursor)
        let group = liveGroup(cursor.variant) ?? makeLiveGroup(cursor.variant)
        group.readers.add(cursor)
        return group.totals
    }

    /// Moves a reader out of its live group: its next event is the first that was not broadcast.
    func leaveLiveGroup(_ cursor: Cursor) {
        liveGroup(cursor.variant)?.readers.remove(cursor)
        late.add(cursor)
    }

    func add(_ group: CompressedGroup) { compressedGroups.append(group) }

    /// A compressed group has no readers any more.
    func remove(_ group: CompressedGroup) { compressedGroups.removeAll { $0 === group } }

    private func liveGroup(_ variant: EventVariant) -> LiveGroup? { liveGroups.first { $0.variant == variant } }

    private func makeLiveGroup(_ variant: EventVariant) -> LiveGroup {
        let group = LiveGroup(variant: variant)
        liveGroups.append(group)
        return group
    }

    /// Moves the live groups to the end, after their broadcasts.
    func advanceLiveGroups(now: Moment) {
        guard liveOrdinal < view.totals.events else { return }
        for group in liveGroups where !group.readers.isEmpty {
            group.totals.events.add(unsentCount)
            lastBroadcast = now
        }
        if !compressedGroups.isEmpty { lastBroadcast = now }
        livePosition = LogPosition(segment: view.tail, index: view.tailCount)
        liveOrdinal = view.totals.events
    }
}

/// The readers of a channel in one variant that have read everything. Used by the thread that uses the shard.
final class LiveGroup {
    let variant: EventVariant
    var readers = ReaderList<Cursor>()
    let totals = BroadcastCounters()

    init(variant: EventVariant) { self.variant = variant }
}
