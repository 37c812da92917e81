internal import SessionCore
internal import StreamIO

/// One stream: where it is in the channels that it carries, what it has still to be told, and how.
///
/// A reader that keeps up gets ranges of the bytes that all share. What a reader was too late for, and what only it has
/// to be told (snapshots, the `stream` event), goes through `PendingEvents` and is written for it alone.
final class Subscriber: StreamContent {
    /// Up to here a late reader gets shared bytes nevertheless: that costs less than to conflate them.
    private static let slack = (events: 64, weight: 16 << 10)

    /// The stream's id.
    let id: String
    /// The stream's number on its loop.
    let stream: StreamID
    /// Its figures.
    let figures: StreamFigures
    let request: StreamRequest
    let variant: EventVariant
    let isChunked: Bool
    /// Whether what it reads late is conflated.
    let conflates: Bool
    /// Whether it has a frequency limit.
    let isPaced: Bool
    let context: ShardContext
    /// Holds the stream until it is closed.
    private unowned let shard: HubShard
    /// The epoch of the ids that it writes itself.
    private(set) var epoch: [UInt8]
    var delay: RetryDelay
    var pending: PendingEvents
    /// The channels that it reads.
    private var cursors: [Cursor] = []
    /// Those of them with something to read.
    var ready: [Cursor] = []
    /// Whether the shard named it since it was visited last.
    var isDue = true
    /// The pass in which the shard named it.
    var duePass: UInt64 = 0
    /// Whether it could not take what was due by the time that more came.
    private(set) var isBehind = false
    /// Why it ends; nil while it goes on.
    private(set) var closeReason: String?
    /// Whether it gets what comes as broadcasts: it keeps up, and has nothing else to be told.
    private(set) var isInLiveGroup = false
    /// Since when.
    private var inStepSince = Moment.zero
    var clock: StreamClock

    init(
        record: StreamRecord,
        opening: StreamOpening,
        shard: HubShard,
        delay: RetryDelay,
        context: ShardContext
    ) {
        id = record.id
        figures = record.figures
        request = record.request
        variant = record.variant
        isPaced = record.request.maxFrequency != nil
        conflates = record.request.conflates || record.request.maxFrequency != nil
        stream = opening.id
        epoch = Array(record.epoch.utf8)
        isChunked = opening.framing == .chunked
        self.shard = shard
        self.context = context
        self.delay = delay
        let configuration = context.configuration
        pending = PendingEvents(
            window: PendingEvents.Window(events: configuration.windowEvents, weight: configuration.windowBytes)
        )
        clock = StreamClock(
            heartbeat: configuration.heartbeatInterval,
            maxFrequency: record.request.maxFrequency,
            now: opening.now,
            offset: self.delay.fraction()
        )
    }

    // MARK: - The loop's side

    /// Reads for itself until it has caught up.
    func blocked() { leaveLiveGroup() }

    /// Leaves the hub.
    func ended(_ reason: StreamEnd) { shard.close(self) }

    // MARK: - What the hub says

    /// Does what the hub decided.
    func apply(_ change: StreamChange) {
        if case .restart(let epoch) = change { restart(epoch) }
        guard closeReason == nil else { return }
        switch change {
        case .restart:
            break
        case .read(let channel, let position, let view):
            channel.advance(to: view)
            let cursor = Cursor(subscriber: self, channel: channel, position: position)
            cursors.append(cursor)
            channel.add(cursor)
            list(cursor)
        case .retire(let channel, let view):
            channel.advance(to: view)
            guard let cursor = cursors.first(where: { $0.channel === channel && !$0.isRetired }) else { return }
            cursor.isRetired = true
            list(cursor)
        case .drop(let channel):
            pending.removeAll(from: channel.id)
            cursors.filter { $0.channel === channel }.forEach(detach)
        case .snapshot(let snapshot):
            fold(through: snapshot.sequences.first - 1)
            take(snapshot)
        case .announce(let event, let sequence):
            fold(through: sequence)
            pending.append(event, after: sequence)
        case .close(let reason, let sequence):
            fold(through: sequence)
            end(reason)
        }
    }

    private func take(_ snapshot: Snapshot) {
        for (index, event) in snapshot.events.enumerated() {
            let sequence = snapshot.sequences.sequence(at: index, of: snapshot.events.count)
            // A window for updates that come must not cut the past that a joiner is told.
            let losses = pending.append(
                .subscription(event),
                sequence: sequence,
                context: snapshot.context,
                channel: snapshot.channel,
                conflating: conflates && snapshot.context.policy != .keepNewest
            )
            count(losses)
        }
    }

    private func restart(_ epoch: String) {
        detachAll()
        pending.removeAll()
        isBehind = false
        self.epoch = Array(epoch.utf8)
    }

    private func end(_ reason: String) {
        closeReason = reason
        detachAll()
    }

    // MARK: - Channels

    /// Remembers that a channel has something to read.
    func list(_ cursor: Cursor) {
        guard !cursor.isListed else { return }
        cursor.isListed = true
        ready.append(cursor)
    }

    /// Forgets channels that are read to their end, and those of them that are gone.
    func unlistRead() {
        if ready.count == 1, !ready[0].isRetired, ready[0].isAtEnd {
            ready[0].isListed = false
            ready.removeLast()
            return
        }
        ready.removeAll { cursor in
            guard cursor.isAtEnd else { return false }
            cursor.isListed = false
            if cursor.isRetired { forget(cursor) }
            return true
        }
    }

    private func detach(_ cursor: Cursor) {
        ready.removeAll { $0 === cursor }
        forget(cursor)
    }

    private func forget(_ cursor: Cursor) {
        cursor.channel.remove(cursor)
        cursors.removeAll { $0 === cursor }
    }

    /// Reads no channel any more.
    func detachAll() {
        leaveLiveGroup()
        for cursor in cursors { cursor.channel.remove(cursor) }
        cursors.removeAll()
        ready.removeAll()
    }

    // MARK: - In step

    /// Takes part in broadcasts from now on, if it has read everything and is as all others are.
    func joinLiveGroup(now: Moment) {
        guard isChunked, !isPaced, !isInLiveGroup, cursors.allSatisfy(\.canJoinLiveGroup) else { return }
        isInLiveGroup = true
        inStepSince = now
        for cursor in cursors { figures.joinLiveGroup(cursor.joinLiveGroup(variant)) }
    }

    /// Reads for itself from now on: it has something to be told that others have not, or cannot take what they take.
    func leaveLiveGroup() {
        guard isInLiveGroup else { return }
        isInLiveGroup = false
        figures.leaveLiveGroup()
        for cursor in cursors {
            cursor.leaveLiveGroup(variant)
            if let last = cursor.channel.lastBroadcast, last > inStepSince { clock.sent(at: last) }
            if !cursor.isAtEnd { list(cursor) }
        }
    }

    // MARK: - Falling behind

    /// Called when more came before it could take what was due.
    func fallBehind() {
        isBehind = true
        let unread = ready.reduce(0) { $0 + $1.unread }
        figures.setLag(unread + pending.count)
        if conflates {
            // At once and not when it can write again: the log's memory is not held for it.
            if unread > Self.slack.events { fold() }
        } else if ready.reduce(pending.weight, { $0 + $1.unreadWeight }) > context.configuration.windowBytes {
            giveUp()
        }
    }

    /// Decides, at a visit, whether what waits goes out as it is.
    func catchUp() {
        if !isBehind, !isPaced { return }
        defer { isBehind = false }
        if isPaced { return fold() }
        guard conflates else { return }
        let unread = ready.reduce(0) { $0 + $1.unread }
        let weight = ready.reduce(0) { $0 + $1.unreadWeight }
        if unread > Self.slack.events || weight > Self.slack.weight || !pending.isEmpty { fold() }
    }

    /// Takes what is unread out of the shared logs.
    private func fold(through last: UInt64 = .max) {
        let conflating = conflates && (isBehind || isPaced)
        var turns = MergeTurns()
        for cursor in ready { turns.append(cursor.nextSequence()) }
        while let (place, _) = turns.next() {
            let cursor = ready[place]
            let segment = cursor.segment
            let record = segment.record(at: cursor.index)
            guard record.sequence <= last else { break }
            let losses = pending.append(
                record.event,
                sequence: record.sequence,
                context: segment.context,
                channel: cursor.channel.id,
                conflating: conflating
            )
            count(losses)
            cursor.advance(to: cursor.index + 1)
            turns.set(cursor.nextSequence(), at: place)
        }
        unlistRead()
        if pending.isOverfull { giveUp() }
    }

    /// The last resort: forgets what waits, and ends.
    private func giveUp() {
        guard closeReason == nil else { return }
        pending.removeAll()
        end("slow-reader")
        context.metrics.addSlowReader()
    }

    private func count(_ losses: PendingEvents.Losses) {
        if losses.conflated > 0 {
            figures.addConflated(losses.conflated)
            context.metrics.addConflated(losses.conflated)
        }
        if losses.dropped > 0 {
            figures.addDropped(losses.dropped)
            context.metrics.addDropped(losses.dropped)
        }
    }
}
