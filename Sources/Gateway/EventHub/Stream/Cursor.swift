internal import StreamIO

/// The position of one stream in one channel.
final class Cursor: ListedReader {
    /// The stream. It removes all its cursors when it ends, which ends the reference cycle; a weak reference would cost
    /// more at every event.
    let subscriber: Subscriber
    let stream: StreamID
    let channel: ShardChannel
    let variant: EventVariant
    /// The index of the next event in the segment; all events of the segment before it are read.
    var index: Int
    private var number: Int
    /// The index among the readers of the channel.
    var place = 0
    /// Whether the stream has the cursor in its list of those with something to read.
    var isListed = false
    /// Whether the stream leaves the channel: the cursor is removed when all of its own part is read.
    private(set) var isRetired = false
    /// The part to read instead of that of the channel: at the beginning, until the shard has taken over as much for all readers,
    /// with the other channels; at the end, up to the point at which the stream leaves the channel.
    private var ownView: LogView?
    /// Nil in a live group: a cursor that does not move must not keep old segments alive.
    private var present: LogSegment?

    /// A cursor before the next event to read. The stream may read the events up to a view that the shard has not taken over yet.
    init(
        subscriber: Subscriber,
        channel: ShardChannel,
        variant: EventVariant,
        position: LogPosition,
        upTo view: LogView? = nil
    ) {
        self.subscriber = subscriber
        stream = subscriber.stream
        self.channel = channel
        self.variant = variant
        ownView = view
        present = position.segment
        index = position.index
        number = position.segment.number
    }

    /// The stream leaves the channel: the cursor reads to the end of this view.
    func retire(upTo view: LogView) {
        isRetired = true
        ownView = view
    }

    /// Whether the stream reads another part of the log than the readers of the channel usually do.
    var hasOwnView: Bool {
        guard let view = ownView else { return false }
        if isRetired || view.endsBehind(channel.view.tailNumber, channel.view.tailCount) { return true }
        ownView = nil
        return false
    }

    private var view: LogView {
        if let view = ownView, hasOwnView { return view }
        return channel.view
    }

    var segment: LogSegment {
        guard let present else { preconditionFailure("a cursor in a live group has no segment") }
        return present
    }

    /// The index behind the last event that can be read from the present segment. It equals `index` only if all is
    /// read: at the end of a segment the cursor moves on to the next one.
    func readableEnd() -> Int {
        var (tailNumber, tailCount) = (channel.view.tailNumber, channel.view.tailCount)
        if let view = ownView, hasOwnView {
            // Later events may have been read before the channel was left.
            if !view.endsBehind(number, index) { return index }
            (tailNumber, tailCount) = (view.tailNumber, view.tailCount)
        }
        while number != tailNumber {
            // Sealed: its count does not change any more.
            let count = segment.count
            if index < count { return count }
            guard let next = segment.next else { return index }
            present = next
            number = next.number
            index = 0
        }
        return tailCount
    }

    var isAtEnd: Bool { readableEnd() <= index }

    var unread: Int { max(0, view.totals.events - segment.before.events - index) }

    var unreadWeight: Int { isAtEnd ? 0 : view.totals.weight - segment[index].offset }

    /// The approximate memory of the unread events, in bytes: more than their weight, because the log has their values too.
    var unreadMemory: Int {
        let (weight, view) = (unreadWeight, view)
        return weight > 0 ? Int(Double(weight) * Double(view.totals.size) / Double(view.totals.weight)) : 0
    }

    /// The weight of the first values of rows among the unread events, those of the present segment left out.
    var unreadFirstValues: Int {
        guard number < view.tailNumber, let next = segment.next else { return 0 }
        return view.totals.firstValues - next.before.firstValues
    }

    /// The number of the channel's events before the next one.
    var ordinal: Int { segment.before.events + index }

    func skipToEnd() {
        let view = view
        present = view.tail
        number = view.tailNumber
        index = view.tailCount
    }

    /// The sequence of the next event; nil if all is read.
    func nextSequence() -> UInt64? { isAtEnd ? nil : segment[index].sequence }

    // MARK: - Live group

    /// Whether the cursor can join a live group: nothing is left to read, for it and for the group.
    var canJoinLiveGroup: Bool { !hasOwnView && channel.isLiveGroupAtEnd && isAtEnd }

    /// Joins the live group. Returns the totals to which the group's broadcasts are added.
    func joinLiveGroup() -> BroadcastCounters {
        present = nil
        return channel.joinLiveGroup(self)
    }

    /// Leaves the live group and continues from the group's position.
    func leaveLiveGroup() {
        takeLivePosition()
        channel.leaveLiveGroup(self)
    }

    func joinCompressedGroup() {
        present = nil
        channel.remove(self)
    }

    /// Leaves a compressed group and continues from the group's position.
    func leaveCompressedGroup() {
        takeLivePosition()
        channel.add(self)
    }

    private func takeLivePosition() {
        let position = channel.livePosition
        present = position.segment
        index = position.index
        number = position.segment.number
    }
}

/// A reader that is in one `ReaderList` at a time.
protocol ListedReader: AnyObject {
    /// The index in the list.
    var place: Int { get set }
    var stream: StreamID { get }
}

/// Readers of a channel, or of a compressed group, in no order.
struct ReaderList<Reader: ListedReader> {
    private(set) var all: [Reader] = []
    /// The numbers of their streams, in the same order.
    private(set) var streams: [StreamID] = []

    var isEmpty: Bool { all.isEmpty }

    mutating func add(_ reader: Reader) {
        reader.place = all.count
        all.append(reader)
        streams.append(reader.stream)
    }

    /// Removes a reader, whose place the last one takes; false if it is not in the list.
    @discardableResult
    mutating func remove(_ reader: Reader) -> Bool {
        let place = reader.place
        guard all.indices.contains(place), all[place] === reader else { return false }
        let last = all.removeLast()
        let lastStream = streams.removeLast()
        guard last !== reader else { return true }
        last.place = place
        all[place] = last
        streams[place] = lastStream
        return true
    }

    mutating func move(to other: inout Self) {
        for reader in all { other.add(reader) }
        all.removeAll(keepingCapacity: true)
        streams.removeAll(keepingCapacity: true)
    }
}

/// The positions of one stream in the channels that it reads. A client may end with thousands of subscriptions: the cursors of
/// channels that end together are removed in one pass.
struct StreamCursors {
    /// One cursor for each channel that the stream reads, and the cursors of channels that it leaves and has not read to their ends.
    private(set) var all: [Cursor] = []
    /// The cursors that have unread events.
    private(set) var ready: [Cursor] = []
    /// The cursors that are not retired, by their channels, while some are retired; nil at other times.
    private var inUse: [ObjectIdentifier: Cursor]?

    var unread: Int {
        var sum = 0
        for cursor in ready { sum += cursor.unread }
        return sum
    }

    /// The weight of unread events in the shared logs, in bytes.
    var unreadWeight: Int { ready.reduce(0) { $0 + $1.unreadWeight } }

    /// The weight of the first values of rows among them, in bytes.
    var unreadFirstValues: Int { ready.reduce(0) { $0 + $1.unreadFirstValues } }

    /// The memory of unread events, in bytes.
    var unreadMemory: Int { ready.reduce(0) { $0 + $1.unreadMemory } }

    mutating func add(_ cursor: Cursor) {
        all.append(cursor)
        inUse?[ObjectIdentifier(cursor.channel)] = cursor
        cursor.channel.add(cursor)
        list(cursor)
    }

    /// Leaves a channel, whose events are read up to a view.
    mutating func retire(_ channel: ShardChannel, upTo view: LogView) {
        if inUse == nil {
            let present = all.filter { !$0.isRetired }.map { (ObjectIdentifier($0.channel), $0) }
            inUse = Dictionary(present) { first, _ in first }
        }
        guard let cursor = inUse?.removeValue(forKey: ObjectIdentifier(channel)) else { return }
        cursor.retire(upTo: view)
        list(cursor)
    }

    mutating func drop(_ channels: [ShardChannel]) {
        let dropped = Set(channels.map { ObjectIdentifier($0) })
        inUse = nil
        ready.removeAll { dropped.contains(ObjectIdentifier($0.channel)) }
        all.removeAll { cursor in
            guard dropped.contains(ObjectIdentifier(cursor.channel)) else { return false }
            cursor.channel.remove(cursor)
            return true
        }
    }

    mutating func removeAll() {
        for cursor in all { cursor.channel.remove(cursor) }
        self = StreamCursors()
    }

    mutating func list(_ cursor: Cursor) {
        guard !cursor.isListed else { return }
        cursor.isListed = true
        ready.append(cursor)
    }

    /// Takes the last cursor of the list, which has read everything and is not retired, from the list.
    mutating func unlistLast() { ready.removeLast().isListed = false }

    /// Takes cursors that have read everything from the list, and retired ones from the stream.
    mutating func unlistRead() {
        var hasRetired = false
        ready.removeAll { cursor in
            guard cursor.isAtEnd else { return false }
            cursor.isListed = false
            if cursor.isRetired {
                cursor.channel.remove(cursor)
                hasRetired = true
            }
            return true
        }
        guard hasRetired else { return }
        all.removeAll { $0.isRetired && !$0.isListed }
        inUse = nil
    }
}
