internal import Changes
internal import Primitives
internal import StreamIO

/// One stream: its positions in the channels that it reads, and its pending events.
///
/// A reader that keeps up receives ranges of bytes that all streams share. Events that a late reader has missed, and
/// those of one stream only (snapshots, the `stream` event), are stored in `PendingEvents` and encoded for that
/// stream alone.
final class Subscriber: StreamContent, ListedReader {
    /// Up to this lag a reader that was blocked receives shared bytes as well, which costs less than conflation.
    private static let slack = (events: 64, weight: 16 << 10)
    /// Up to this lag, in bytes, a reader that was not blocked receives them: its loop was late.
    private static let loopSlack = 256 << 10
    /// The events of a blocked reader that are conflated in one pass, at least: other streams wait meanwhile.
    private static let pace = 4096

    let id: String
    let stream: StreamID
    let figures: StreamFigures
    let request: StreamRequest
    /// The types of the fields of its subscriptions; the values of others are text.
    private(set) var types: FieldTypes
    /// Whether the body has the framing of HTTP chunks.
    let isChunked: Bool
    /// Whether events are written in HTTP chunks. In a compressed body the chunks are around the compressed blocks.
    let framesContent: Bool
    /// The compression of the body; nil if it is not compressed.
    let compression: StreamCompression?
    /// The index in a list of the compressed group.
    var place = 0
    let conflates: Bool
    /// Whether the stream has a frequency limit.
    let isPaced: Bool
    let context: ShardContext
    /// The shard retains the stream until it is closed.
    private unowned let shard: HubShard
    /// The epoch of the ids that the stream writes itself.
    private(set) var epoch: [UInt8]
    var delay: RetryDelay
    var pending: PendingEvents
    let ownerMemory: StreamOwnerMemory
    /// The part of the memory budgets that the stream uses, in bytes.
    private(set) var charged = 0
    var cursors = StreamCursors()
    /// Whether the shard marked it as due since the last visit.
    var isDue = true
    /// The pass in which the shard marked it as due.
    var duePass: UInt64 = 0
    /// Whether new events arrived before the stream had read those that were due.
    private(set) var isBehind = false
    /// Whether the client of the stream accepted no more bytes at the last write.
    private var isBlocked = false
    /// Whether the stream had read everything at its last visit, and since then only new events are due.
    var keepsUp = false
    /// The reason for the end of the stream; nil while it is open.
    private(set) var closeReason: String?
    /// Whether the stream receives new events as broadcasts: it keeps up, and nothing else is pending.
    private(set) var isInLiveGroup = false
    private var inLiveGroupSince = Moment.zero
    var clock: StreamClock

    init(record: StreamRecord, opening: StreamOpening, shard: HubShard, delay: RetryDelay, context: ShardContext) {
        id = record.id
        figures = record.figures
        request = record.request
        types = record.request.types
        isPaced = record.request.maxFrequency != nil
        conflates = record.request.conflates || record.request.maxFrequency != nil
        stream = opening.id
        epoch = Array(record.epoch.utf8)
        isChunked = opening.framing == .chunked
        compression = record.request.compresses ? StreamCompression() : nil
        framesContent = isChunked && compression == nil
        ownerMemory = record.memory
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

    /// Reads by its own cursors until it has caught up.
    func blocked() {
        isBlocked = true
        leaveLiveGroup()
    }

    func ended(_ reason: StreamEnd) {
        pending.removeAll()
        charge()
        shard.close(self)
    }

    // MARK: - Changes from the hub

    func apply(_ change: StreamChange) {
        if case .restart(let epoch) = change { restart(epoch) }
        guard closeReason == nil else { return }
        keepsUp = false
        defer { charge() }
        switch change {
        case .restart:
            break
        case .types(let types):
            self.types = types
        case .read(let channel, let variant, let position, let view):
            channel.advance(toEmpty: view)
            let cursor = Cursor(subscriber: self, channel: channel, variant: variant, position: position, upTo: view)
            cursors.add(cursor)
        case .retire(let channel, let view):
            cursors.retire(channel, upTo: view)
        case .resume(let present, let newest):
            pending.readRows = present
            // Else rows go back for a time, which is better than a reader that is closed.
            if let newest, conflates, cursors.unreadWeight < context.configuration.windowBytes / 2 {
                fold(through: newest, conflating: .rows)
            }
        case .drop(let channels):
            pending.removeAll(from: Set(channels.map(\.id)))
            cursors.drop(channels)
        case .snapshot(let snapshot):
            fold(through: snapshot.sequences.first - 1)
            // The ids of the snapshot would say that the reader has the events that a full window has dropped just now.
            guard closeReason == nil else { return }
            pending.append(SnapshotPlace(snapshot, conflates: conflates, form: form(of: snapshot)))
        case .announce(let event, let sequence):
            fold(through: sequence)
            pending.append(event, after: sequence)
        case .close(let reason, let sequence):
            fold(through: sequence)
            end(reason)
        }
    }

    private func restart(_ epoch: String) {
        detachAll()
        pending.removeAll()
        pending.readRows = 0
        isBehind = false
        self.epoch = Array(epoch.utf8)
    }

    private func end(_ reason: String) {
        closeReason = reason
        keepsUp = false
        detachAll()
    }

    /// Whether the stream may have events of more than one subscription and of its client. A stream that is ending reads no
    /// channels, and its last events may be of several owners.
    var mixesSources: Bool {
        if closeReason != nil { return true }
        return cursors.all.count > CompressedGroup.mostChannels
    }

    func detachAll() {
        leaveLiveGroup()
        cursors.removeAll()
    }

    // MARK: - Live groups

    /// Joins the live groups of its channels, if it has read everything and needs no pacing or framing of its own.
    func joinLiveGroup(now: Moment) {
        guard isChunked, !isPaced, !isInLiveGroup, cursors.all.allSatisfy(\.canJoinLiveGroup) else { return }
        isInLiveGroup = true
        inLiveGroupSince = now
        if let compression {
            let group = shard.compressedGroup(of: cursors.all)
            for cursor in cursors.all { cursor.joinCompressedGroup() }
            figures.joinLiveGroup(group.totals)
            return compression.join(group, self)
        }
        for cursor in cursors.all { figures.joinLiveGroup(cursor.joinLiveGroup()) }
    }

    /// Leaves the live groups and reads by its own cursors.
    func leaveLiveGroup() {
        guard isInLiveGroup else { return }
        isInLiveGroup = false
        figures.leaveLiveGroup()
        if let compression, let group = compression.group {
            compression.leave(self)
            shard.left(group)
        }
        for cursor in cursors.all {
            if compression == nil { cursor.leaveLiveGroup() } else { cursor.leaveCompressedGroup() }
            if let last = cursor.channel.lastBroadcast, last > inLiveGroupSince { clock.sent(at: last) }
            if !cursor.isAtEnd { cursors.list(cursor) }
        }
    }

    // MARK: - Falling behind

    /// Called when new events arrived before the stream had read those that were due.
    func fallBehind() {
        isBehind = true
        keepsUp = false
        defer { charge() }
        let unread = cursors.unread
        figures.setLag(unread + pending.count)
        if conflates {
            // Conflated now and not at the next write, so that a blocked stream does not retain the memory of the log.
            if isBlocked, unread > Self.slack.events {
                fold(keeping: sharedWeight, atMost: max(Self.pace, unread / 16))
            }
        } else if pending.weight + cursors.unreadWeight > context.configuration.windowBytes {
            closeSlowReader()
        }
    }

    /// Decides, at a visit, whether unread events are conflated: those that the client did not accept in time. Where the
    /// loop was late, shared bytes cost less than conflation for each stream, which would make the loop later still.
    func catchUp() {
        let wasBlocked = isBlocked
        isBlocked = false
        if !isBehind, !isPaced { return }
        defer { isBehind = false }
        if isPaced { return fold() }
        guard conflates else { return }
        let unread = cursors.unread
        let weight = cursors.unreadWeight
        let isLate = wasBlocked ? unread > Self.slack.events || weight > Self.slack.weight : weight > Self.loopSlack
        if isLate || !pending.isEmpty { fold(keeping: sharedWeight) }
    }

    /// The weight of unread events that stay in the shared logs, in bytes: first values of rows, as while a table is sent
    /// for the first time, and as many others. Conflation would make few of them superfluous, and cost each reader an entry
    /// for every row.
    private var sharedWeight: Int { min(2 * cursors.unreadFirstValues, context.configuration.windowBytes) }

    /// Moves unread events from the shared logs to the pending ones, conflated where allowed: the oldest ones, until the
    /// others weigh at most `kept`, or their number reaches the limit.
    private func fold(
        through last: UInt64 = .max,
        keeping kept: Int = 0,
        atMost limit: Int = .max,
        conflating conflation: PendingEvents.Conflation? = nil
    ) {
        let conflation = conflation ?? (conflates && (isBehind || isPaced) ? .all : .nothing)
        var losses = PendingEvents.Losses()
        if last == .max, kept == 0, foldShared(atMost: limit, &losses) { return count(losses) }
        var order = MergeOrder()
        var events = limit
        var weight = kept > 0 ? cursors.unreadWeight - kept : .max
        for (place, cursor) in cursors.ready.enumerated() { order.set(cursor.nextSequence(), at: place) }
        while events > 0, weight > 0, let (place, until) = order.next() {
            let cursor = cursors.ready[place]
            let before = (events: cursor.unread, weight: cursor.unreadWeight)
            fold(cursor, through: min(last, until), conflation, &losses)
            events -= before.events - cursor.unread
            weight -= before.weight - cursor.unreadWeight
            if let next = cursor.nextSequence(), next <= last { order.set(next, at: place) }
        }
        count(losses)
        cursors.unlistRead()
        if pending.isOverfull { closeSlowReader() }
    }

    /// Moves the unread events of the only channel that has any, if they are conflated for other readers as well; false if
    /// nothing was moved.
    private func foldShared(atMost limit: Int, _ losses: inout PendingEvents.Losses) -> Bool {
        guard conflates, isBehind || isPaced, cursors.ready.count == 1, let cursor = cursors.ready.first,
            !cursor.hasOwnView, cursor.unread <= limit, let shared = cursor.channel.conflated(from: cursor),
            pending.append(shared, channel: cursor.channel.id, &losses)
        else { return false }
        cursor.skipToEnd()
        cursors.unlistRead()
        if pending.isOverfull { closeSlowReader() }
        return true
    }

    /// Moves the unread events of the cursor's segment up to a sequence.
    private func fold(
        _ cursor: Cursor,
        through last: UInt64,
        _ conflation: PendingEvents.Conflation,
        _ losses: inout PendingEvents.Losses
    ) {
        let end = cursor.readableEnd()
        let segment = cursor.segment
        var index = cursor.index
        while index < end, segment[index].sequence <= last {
            losses += pending.append(
                segment[index].event,
                sequence: segment[index].sequence,
                context: segment.context,
                channel: cursor.channel.id,
                conflating: conflation
            )
            index += 1
        }
        cursor.index = index
    }

    /// The memory that closing the stream would free, in bytes; that of logs only if no other reader needs them.
    var heldBytes: Int { charged + cursors.unreadMemory }

    /// Counts the pending events towards the memory budgets.
    func charge() {
        if charged == 0, pending.isEmpty { return }
        let weight = pending.weight
        guard weight != charged else { return }
        context.memory.addPending(weight - charged, of: ownerMemory)
        charged = weight
        if context.memory.ownerLimit < ownerMemory.used { context.hasGreedyOwner = true }
    }

    /// Drops the pending events and ends the stream, whose reader is too slow. A stream that is ending keeps its reason.
    func closeSlowReader() {
        defer { charge() }
        pending.removeAll()
        guard closeReason == nil else { return }
        end("slow-reader")
        context.metrics.slowReaders.add(1)
    }

    private func count(_ losses: PendingEvents.Losses) {
        if losses.conflated > 0 {
            figures.conflated.add(losses.conflated)
            context.metrics.conflated.add(losses.conflated)
        }
        if losses.dropped > 0 {
            figures.dropped.add(losses.dropped)
            context.metrics.dropped.add(losses.dropped)
        }
    }
}
