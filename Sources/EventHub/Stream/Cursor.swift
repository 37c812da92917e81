internal import StreamIO

/// Where one stream is in one channel.
final class Cursor {
    /// The stream. It holds its cursors and lets go of them all when it ends, so this is no lasting circle; a weaker
    /// reference would cost more, at every event.
    let subscriber: Subscriber
    /// The channel.
    let channel: ShardChannel
    /// The index of the next event in the segment.
    private(set) var index: Int
    /// The segment's number.
    private var number: Int
    /// The index among the readers of the channel.
    var place = 0
    /// Whether the stream has the cursor in its list of those with something to read.
    var isListed = false
    /// Whether the channel is gone: the cursor goes when all is read.
    var isRetired = false
    /// Nil in step: a cursor that is not moved must not keep what others have read.
    private var present: LogSegment?

    /// A cursor that stands before the next event to read.
    init(subscriber: Subscriber, channel: ShardChannel, position: LogPosition) {
        self.subscriber = subscriber
        self.channel = channel
        present = position.segment
        index = position.index
        number = position.segment.number
    }

    /// The segment that is being read.
    var segment: LogSegment {
        guard let present else { preconditionFailure("a cursor in step has no place of its own") }
        return present
    }

    /// The index behind the last event that can be read from the present segment. It is `index` only if all is read: a
    /// segment that is read to its end is left for the next one.
    func readableEnd() -> Int {
        while number != channel.view.tailNumber {
            // Sealed: its count does not change any more.
            let count = segment.count
            if index < count { return count }
            guard let next = segment.next else { return index }
            present = next
            number = next.number
            index = 0
        }
        return channel.view.tailCount
    }

    /// Whether all is read.
    var isAtEnd: Bool { readableEnd() <= index }

    /// How many events wait.
    var unread: Int { channel.view.endOrdinal - segment.firstOrdinal - index }

    /// What the events that wait weigh.
    var unreadWeight: Int { isAtEnd ? 0 : channel.view.weight - segment.offset(at: index) }

    /// The sequence of the next event; nil if all is read.
    func nextSequence() -> UInt64? { isAtEnd ? nil : segment.sequence(at: index) }

    /// Everything before this index of the present segment is read.
    func advance(to index: Int) { self.index = index }

    // MARK: - In step

    /// Whether the cursor can be in step: nothing is left to read, for it and for those in step.
    var canJoinLiveGroup: Bool { !isRetired && channel.isStepAtEnd && isAtEnd }

    /// Is moved with the others from now on; what it is given is added up in what this returns.
    func joinLiveGroup(_ variant: EventVariant) -> BroadcastTotals {
        present = nil
        return channel.joinLiveGroup(self, variant)
    }

    /// Has its own place again: where those in step stand.
    func leaveLiveGroup(_ variant: EventVariant) {
        let position = channel.stepPosition
        present = position.segment
        index = position.index
        number = position.segment.number
        channel.leaveLiveGroup(self, variant)
    }
}

/// Readers of a channel, in no order. Each knows its place, and is in one list at a time.
struct CursorList {
    /// The readers.
    private(set) var cursors: [Cursor] = []
    /// The numbers of their streams, in the same order.
    private(set) var streams: [StreamID] = []

    /// Whether there are none.
    var isEmpty: Bool { cursors.isEmpty }

    /// Adds a reader.
    mutating func add(_ cursor: Cursor) {
        cursor.place = cursors.count
        cursors.append(cursor)
        streams.append(cursor.subscriber.stream)
    }

    /// Takes a reader out, if it is in; the last one takes its place.
    mutating func remove(_ cursor: Cursor) {
        let place = cursor.place
        guard cursors.indices.contains(place), cursors[place] === cursor else { return }
        let last = cursors.removeLast()
        let lastStream = streams.removeLast()
        guard last !== cursor else { return }
        last.place = place
        cursors[place] = last
        streams[place] = lastStream
    }
}
