internal import Changes
internal import Primitives
internal import SessionCore
internal import StreamIO

extension Subscriber {
    func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress {
        guard let compression else { return fillPlain(&batch, now: now) }
        var content = StreamBatch(byteLimit: max(1, batch.remainingBytes), pieceLimit: 1024)
        let progress = fillPlain(&content, now: now)
        compression.write(
            content.pieces,
            of: self,
            to: &batch,
            chunked: isChunked,
            // Data of several owners are not compressed together: their sizes would tell of each other.
            stores: mixesSources,
            isLast: progress == .finish,
            context
        )
        return progress
    }

    /// Appends the due events without compression.
    ///
    /// Ranges of memory that all streams share go to the batch as they are: nothing is copied or written for a stream
    /// that keeps up.
    private func fillPlain(_ batch: inout StreamBatch, now: Moment) -> StreamProgress {
        isDue = false
        if isInLiveGroup { leaveLiveGroup() }
        if keepsUp, cursors.ready.count == 1 {
            // The usual case: an event of one channel, and nothing else.
            giveOnly(cursors.ready[0], &batch, now: now)
            clock.sent(at: now)
            keepsUp = cursors.ready.isEmpty
            figures.setLag(keepsUp ? 0 : cursors.unread)
            if !keepsUp { return .more }
            if isChunked { joinLiveGroup(now: now) }
            return .idle(wakeAt: clock.nextVisit(after: now, isHolding: false))
        }
        defer { charge() }
        catchUp()
        let before = batch.remainingBytes
        let isLimited = !pending.isUrgent && closeReason == nil && !clock.allowsUpdates(at: now)
        if !pending.isEmpty { givePending(&batch, isLimited: isLimited, now: now) }
        let isHolding = isLimited && pending.beginsWithConflated()
        if pending.isEmpty, !cursors.ready.isEmpty { giveShared(&batch, now: now) }
        keepsUp = false
        if pending.isEmpty, cursors.ready.isEmpty {
            if let closeReason { return finish(closeReason, &batch) }
            keepsUp = !isPaced
        }
        if batch.remainingBytes != before {
            clock.sent(at: now)
        } else if clock.isSilent(at: now) {
            give(.heartbeat, to: &batch)
            clock.sent(at: now)
        }
        figures.setLag(pending.count + cursors.unread)
        if !cursors.ready.isEmpty || (!pending.isEmpty && !isHolding) { return .more }
        if pending.isEmpty { joinLiveGroup(now: now) }
        return .idle(wakeAt: clock.nextVisit(after: now, isHolding: !pending.isEmpty))
    }

    /// Appends the last event, which says why the stream ends and when the client may return.
    private func finish(_ reason: String, _ batch: inout StreamBatch) -> StreamProgress {
        let retry =
            switch reason {
            case StreamRecord.refused: delay.milliseconds(times: Self.refusedFactor)
            case EventHub.behind: delay.milliseconds(in: Self.shortDelay)
            default: delay.milliseconds()
            }
        give(.closing(reason: reason, retryMilliseconds: retry), to: &batch)
        figures.setLag(0)
        return .finish
    }

    /// How much later a client returns whose only source was refused: 30 to 60 s with the default delay.
    private static let refusedFactor = 15
    /// When a client returns that another process can serve, or this one soon, in milliseconds.
    private static let shortDelay = 500...2_000

    // MARK: - Pending events

    /// Appends pending events; those before the first conflated update if a frequency limit holds updates back.
    private func givePending(_ batch: inout StreamBatch, isLimited: Bool, now: Moment) {
        var writer = PrivateWriter(isChunked: framesContent)
        var hasUpdates = false
        var newestAheadOfID: UInt64 = 0
        context.encoder.epoch = epoch
        while !batch.isFull, !(isLimited && pending.beginsWithConflated()), let (content, id) = pending.popFirst() {
            if pending.newestRead > id { newestAheadOfID = pending.newestRead }
            if case .blocks(let blocks) = content {
                for block in blocks { block.append(to: &batch, chunked: framesContent) }
                hasUpdates = true
                delivered(blocks.reduce(0) { $0 + $1.count })
                continue
            }
            encode(content, id)
            writer.write(context.encoder.json.bytes, to: &batch)
            if case .control = content { continue }
            if case .conflated = content { hasUpdates = true }
            delivered(1)
        }
        if hasUpdates { clock.updatesSent(at: now) }
        if newestAheadOfID == 0 { return }
        for cursor in cursors.all { cursor.channel.newestAheadOfID.raise(to: newestAheadOfID) }
    }

    private func encode(_ content: PendingEntry.Content, _ id: UInt64) {
        switch content {
        case .event(let event, let topic):
            context.encoder.encode(event, sequence: id, of: topic, as: variant(of: topic), types(of: topic))
        case .conflated(let update, let topic) where update.count == 1:
            let event = HubEvent.subscription(.update(update.newest))
            context.encoder.encode(event, sequence: id, of: topic, as: variant(of: topic), types(of: topic))
        case .conflated(let update, let topic):
            context.encoder.encode(update, sequence: id, of: topic, as: variant(of: topic), types(of: topic))
        case .lost(let item, let count, let topic):
            context.encoder.encodeLoss(of: count, item: item, sequence: id, of: topic, as: variant(of: topic))
        case .control(let event):
            context.encoder.encode(event, as: request.format)
        case .snapshot, .blocks, .void:
            preconditionFailure("popFirst returns events")
        }
    }

    private func give(_ event: ControlEvent, to batch: inout StreamBatch) {
        context.encoder.encode(event, as: request.format)
        var writer = PrivateWriter(isChunked: framesContent)
        writer.write(context.encoder.json.bytes, to: &batch)
    }

    private func types(of topic: TopicContext) -> [FieldType]? { topic.subscription.flatMap { types[$0] } }

    private func variant(of topic: TopicContext) -> EventVariant { EventVariant(of: topic, in: request, types) }

    func form(of snapshot: Snapshot) -> SnapshotForm {
        let topic = snapshot.context
        return SnapshotForm(variant: variant(of: topic), types: types(of: topic), context: context)
    }

    private func delivered(_ count: Int) {
        let invalid = context.encoder.invalidCount
        if invalid > 0 {
            context.metrics.invalidValues.add(Int(invalid))
            context.encoder.invalidCount = 0
        }
        figures.addDelivered(UInt64(clamping: count))
        context.metrics.delivered.add(count)
    }

    // MARK: - Shared bytes

    /// Appends the events of the only channel that has any.
    private func giveOnly(_ cursor: Cursor, _ batch: inout StreamBatch, now: Moment) {
        var end = cursor.readableEnd()
        if cursor.index < end {
            context.metrics.deliveryLatency.record(from: cursor.segment[cursor.index].published, to: now)
        }
        while cursor.index < end, !batch.isFull {
            let index = cursor.index
            cursor.index = give(cursor.segment, index..<end, cursor.variant, to: &batch)
            delivered(cursor.index - index)
            end = cursor.readableEnd()
        }
        if cursor.index < end { return }
        if cursor.isRetired { cursors.unlistRead() } else { cursors.unlistLast() }
    }

    private func giveShared(_ batch: inout StreamBatch, now: Moment) {
        var order = MergeOrder()
        swap(&order, &context.order)
        for (place, cursor) in cursors.ready.enumerated() { order.set(cursor.nextSequence(), at: place) }
        var isFirst = true
        while !batch.isFull, let (place, until) = order.next() {
            let cursor = cursors.ready[place]
            let segment = cursor.segment
            let index = cursor.index
            if isFirst {
                context.metrics.deliveryLatency.record(from: segment[index].published, to: now)
                isFirst = false
            }
            // Up to the next event of another channel.
            let end = cursor.readableEnd()
            let last =
                until == .max || segment[end - 1].sequence < until
                ? end : segment.index(after: until, in: index..<end)
            let reached = give(segment, index..<last, cursor.variant, to: &batch)
            cursor.index = reached
            order.set(cursor.nextSequence(), at: place)
            delivered(reached - index)
        }
        order.removeAll()
        swap(&order, &context.order)
        cursors.unlistRead()
    }

    /// Appends events of a segment, as many as fit into the batch and at least one; returns the index after them.
    private func give(
        _ segment: LogSegment,
        _ range: Range<Int>,
        _ variant: EventVariant,
        to batch: inout StreamBatch
    ) -> Int {
        guard let buffer = segment.buffer(variant) else { return giveRewritten(segment, range, variant, to: &batch) }
        guard framesContent else { return giveBare(buffer, range, to: &batch) }
        let start = buffer.frame(at: range.lowerBound).chunkStart
        let room = batch.remainingBytes
        var end = range.upperBound
        // Usually all events fit.
        if buffer.frame(at: end - 1).chunkEnd - start > room {
            end = (range.lowerBound + 1..<end).partitioningIndex { buffer.frame(at: $0).chunkEnd - start > room }
        }
        batch.append(buffer.chunks(of: range.lowerBound..<end), owner: buffer)
        return end
    }

    private func giveBare(_ buffer: VariantBuffer, _ range: Range<Int>, to batch: inout StreamBatch) -> Int {
        for index in range {
            if index > range.lowerBound, batch.isFull { return index }
            batch.append(buffer.payload(at: index), owner: buffer)
        }
        return range.upperBound
    }

    /// Appends events that were not encoded in this variant when they were published, as happens after a resume.
    private func giveRewritten(
        _ segment: LogSegment,
        _ range: Range<Int>,
        _ variant: EventVariant,
        to batch: inout StreamBatch
    ) -> Int {
        var writer = PrivateWriter(isChunked: framesContent)
        context.encoder.epoch = epoch
        let types = types(of: segment.context)
        for index in range {
            if index > range.lowerBound, batch.isFull { return index }
            let record = segment[index]
            context.encoder.encode(record.event, sequence: record.sequence, of: segment.context, as: variant, types)
            writer.write(context.encoder.json.bytes, to: &batch)
        }
        return range.upperBound
    }
}

/// The times of a stream: when a heartbeat is due, and when a frequency limit allows the next updates.
struct StreamClock {
    private let heartbeat: Duration
    private let interval: Duration?
    private var sentAt: Moment
    private var updatesFrom: Moment
    private var wakeAt: Moment

    /// The clock of a stream that begins now; the offset, 0 ≤ offset < 1, spreads the heartbeats of streams that
    /// begin at the same time.
    init(heartbeat: Duration, maxFrequency: Double?, now: Moment, offset: Double) {
        self.heartbeat = heartbeat
        interval = maxFrequency.map { .nanoseconds(Int64(max(1, min(1e18, 1e9 / $0)))) }
        sentAt = now
        updatesFrom = now
        wakeAt = now + heartbeat * (1 - offset / 2)
    }

    func allowsUpdates(at now: Moment) -> Bool { interval == nil || now >= updatesFrom }

    /// Updates were sent: the next ones may follow after the interval.
    mutating func updatesSent(at now: Moment) { if let interval { updatesFrom = now + interval } }

    mutating func sent(at now: Moment) { sentAt = max(sentAt, now) }

    func isSilent(at now: Moment) -> Bool { now >= wakeAt && now - sentAt >= heartbeat / 2 }

    /// When to visit the stream again. Usually the moment returned last time, so that a busy stream does not reset its
    /// timer at every event.
    mutating func nextVisit(after now: Moment, isHolding: Bool) -> Moment {
        if wakeAt <= now { wakeAt = max(sentAt, now - heartbeat / 2) + heartbeat }
        return isHolding ? min(wakeAt, updatesFrom) : wakeAt
    }
}
