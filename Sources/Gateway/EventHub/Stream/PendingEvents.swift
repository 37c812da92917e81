internal import JSONText
internal import SessionCore

/// The events of one reader that have no shared bytes: snapshots, and events that it reads too late. Conflation is
/// applied here.
///
/// Entries are ordered by their first event. The id of an entry is that of the newest event that was read so far, or the one
/// before the next entry's first event if that is less: up to this id no event is missing. So has the last event of a snapshot,
/// whose rows have the updates that the snapshot has taken. A reader that resumes in the middle of conflated events misses none
/// of them; its rows may be newer than the id (see `newestRead`).
struct PendingEvents {
    /// The limits for events that cannot be conflated.
    struct Window: Sendable {
        /// DISTINCT and RAW updates.
        var events: Int
        var weight: Int
    }

    /// What is conflated, as far as the mode of the subscription admits.
    enum Conflation {
        case nothing
        /// The updates of a row; DISTINCT and RAW updates are kept.
        case rows
        /// The updates of a row; DISTINCT and RAW updates beyond the window are lost.
        case all
    }

    struct Losses: Equatable {
        /// Updates that are sent as part of others, or whose row was added and deleted.
        var conflated = 0
        /// Updates that are sent as a count only.
        var dropped = 0

        static func += (left: inout Losses, right: Losses) {
            left.conflated += right.conflated
            left.dropped += right.dropped
        }
    }

    private var queue = PendingQueue()
    /// The places of the newest entries of rows.
    private var rows: [PendingRow: Int] = [:]
    /// The places of the entries for the losses of rows.
    private var lostRows: [PendingRow: Int] = [:]
    /// The newest snapshot of each channel, while it is not sent as a whole.
    private var snapshots: [Int: SnapshotPlace] = [:]
    /// The totals of all snapshots: entries, events and approximate size in bytes.
    private var snapshotTotals = (entries: 0, events: 0, weight: 0)
    private var stretches: [Int: Int] = [:]
    private var itemStretches: [ItemKey: Int] = [:]
    /// The sequence of the newest event that was read while others were pending; 0 if none are.
    private(set) var newestRead: UInt64 = 0
    /// The last event whose row may have been received already, by the reader or by pages for which a browser reads: the deletion of
    /// a row that was added up to this sequence is sent.
    var readRows: UInt64 = 0
    private var windowed = 0
    private var oldestWindowed = 0
    private let window: Window
    /// Whether a stream with a frequency limit sends all events at once: there are some that do not wait for updates, or half of
    /// the window is used up.
    private(set) var isUrgent = false

    private struct ItemKey: Hashable {
        let channel: Int
        let item: Int
    }

    init(window: Window) { self.window = window }

    var isEmpty: Bool { queue.isEmpty }

    var count: Int { queue.count - snapshotTotals.entries + snapshotTotals.events }

    /// The approximate size in bytes. A snapshot counts with the updates that it has taken.
    var weight: Int { queue.weight + snapshotTotals.weight }

    var isOverfull: Bool { weight > window.weight }

    // MARK: - Adding

    /// The approximate size of an event of the gateway without its sources, or of a place in a snapshot, in bytes.
    private static let controlWeight = 200

    /// Adds an event of the gateway behind all events up to a sequence.
    mutating func append(_ event: ControlEvent, after sequence: UInt64) {
        isUrgent = true
        var weight = Self.controlWeight
        if case .stream(_, let sources, _, _, _) = event { weight += sources.count * MemoryLayout<SourceState>.stride }
        add(.control(event), sequence: sequence &+ 1, row: nil, weight: weight, channel: 0)
    }

    /// Adds a snapshot, behind all events of its channel so far.
    mutating func append(_ snapshot: SnapshotPlace) {
        isUrgent = true
        endStretch(ofChannel: snapshot.channel)
        snapshots[snapshot.channel] = snapshot
        count(snapshot, entries: 1)
        let entry = PendingEntry(
            content: .snapshot(snapshot),
            firstSequence: snapshot.firstSequence,
            lastSequence: snapshot.lastSequence,
            row: nil,
            weight: Self.controlWeight,
            channel: snapshot.channel
        )
        queue.append(entry)
    }

    /// Adds an event. Events arrive in the order of their sequences.
    mutating func append(
        _ event: HubEvent,
        sequence: UInt64,
        context: TopicContext,
        channel: Int,
        conflating: Conflation
    ) -> Losses {
        if case .subscription(let change) = event {
            if conflating != .nothing, case .update(let update) = change {
                if let losses = conflate(update, sequence, withSnapshotOf: channel) { return losses }
                switch context.policy {
                case .conflateByItem: return conflate(update, nil, sequence, context, channel)
                case .conflateByKey: return conflate(update, update.key, sequence, context, channel)
                case .keepNewest where conflating == .all: return keep(update, sequence, context, channel)
                case .keepNewest, .keepEverything: break
                }
            }
            endStretch(for: change, channel)
        }
        switch event {
        case .client(.bytesReceived),
            .subscription(.clearSnapshot), .subscription(.lostUpdates), .subscription(.secondLevelLostUpdates):
            // These may come more often than a frequency limit allows updates, which would all be sent with them.
            if weight > window.weight / 2 { isUrgent = true }
        case .client, .subscription: isUrgent = true
        }
        add(.event(event, context), sequence: sequence, row: nil, weight: event.weight, channel: channel)
        return Losses()
    }

    /// Adds updates that were conflated for several readers, behind all others; false if a snapshot of their channel is
    /// pending, which takes single updates.
    mutating func append(_ shared: [PendingEntry], channel: Int, _ losses: inout Losses) -> Bool {
        guard snapshots[channel] == nil else { return false }
        for entry in shared {
            guard case .conflated(let later, let context) = entry.content else { continue }
            let row = self.row(channel, later.newest.itemPos, nil)
            losses.conflated += later.count
            if let place = rows[row], case .conflated(var present, _) = queue[place].content {
                queue[place].content = .void
                present.add(later)
                queue.replace(place, by: .conflated(present, context), weight: entry.weight)
                queue[place].lastSequence = entry.lastSequence
            } else {
                losses.conflated -= 1
                var entry = entry
                entry.row = row
                rows[row] = queue.append(entry)
            }
        }
        return true
    }

    /// The pending updates, one for each item, for other readers; nil if an update is not conflated by item.
    var shared: [PendingEntry]? {
        let entries = queue.all
        let areUpdates = entries.allSatisfy { entry in
            guard case .conflated(_, let context) = entry.content else { return false }
            return context.policy == .conflateByItem
        }
        return areUpdates ? entries : nil
    }

    private mutating func conflate(_ update: ItemUpdate, _ sequence: UInt64, withSnapshotOf channel: Int) -> Losses? {
        guard let snapshot = snapshots[channel] else { return nil }
        count(snapshot, entries: -1)
        defer { count(snapshot, entries: 1) }
        return snapshot.take(update, sequence: sequence)
    }

    private mutating func conflate(
        _ update: ItemUpdate,
        _ key: String?,
        _ sequence: UInt64,
        _ context: TopicContext,
        _ channel: Int
    ) -> Losses {
        let row = self.row(channel, update.itemPos, key)
        guard let place = rows[row], case .conflated(var present, _) = queue[place].content,
            !present.isDeletion || update.command == "DELETE"
        else {
            let weight = HubEvent.weight(of: update)
            let content = PendingEntry.Content.conflated(ConflatedUpdate(update), context)
            rows[row] = add(content, sequence: sequence, row: row, weight: weight, channel: channel)
            return Losses()
        }
        if present.startsWithAdd, update.command == "DELETE", queue[place].firstSequence > readRows {
            // The reader has not received the row: neither event is sent.
            let swallowed = present.count + 1
            rows[row] = nil
            queue.empty(place)
            return Losses(conflated: swallowed)
        }
        // Emptied first, so that the update is changed in place and not in a copy.
        queue[place].content = .void
        present.add(update)
        queue.replace(place, by: .conflated(present, context), weight: HubEvent.weight(of: update))
        queue[place].lastSequence = sequence
        return Losses(conflated: 1)
    }

    private mutating func keep(
        _ update: ItemUpdate,
        _ sequence: UInt64,
        _ context: TopicContext,
        _ channel: Int
    ) -> Losses {
        let event = HubEvent.subscription(.update(update))
        let row = self.row(channel, update.itemPos, nil)
        let place = add(.event(event, context), sequence: sequence, row: row, weight: event.weight, channel: channel)
        if windowed == 0 { oldestWindowed = place }
        windowed += 1
        if windowed > window.events / 2 || weight > window.weight / 2 { isUrgent = true }
        var losses = Losses()
        while windowed > window.events || (isOverfull && windowed > 0) {
            loseOldest()
            losses.dropped += 1
        }
        return losses
    }

    private mutating func loseOldest() {
        guard let place = queue.place(from: oldestWindowed, where: \.isWindowed) else { return windowed = 0 }
        oldestWindowed = place + 1
        windowed -= 1
        let entry = queue[place]
        guard case .event(_, let context) = entry.content, let row = entry.row else { return }
        if let lost = lostRows[row], case .lost(let item, let count, _) = queue[lost].content {
            queue[lost].content = .lost(item: item, count: count + 1, context)
            queue[lost].lastSequence = entry.lastSequence
            queue.empty(place)
        } else {
            lostRows[row] = place
            queue.replace(place, by: .lost(item: row.item, count: 1, context), weight: Self.controlWeight)
        }
    }

    private func row(_ channel: Int, _ item: Int, _ key: String?) -> PendingRow {
        let stretch = stretches[channel, default: 0] + itemStretches[ItemKey(channel: channel, item: item), default: 0]
        return PendingRow(channel: channel, item: item, key: key.map { ExactText($0) }, stretch: stretch)
    }

    private mutating func endStretch(for event: SubscriptionEvent, _ channel: Int) {
        switch event {
        case .subscribed, .unsubscribed, .failed: endStretch(ofChannel: channel)
        case .endOfSnapshot(let item), .clearSnapshot(let item):
            itemStretches[ItemKey(channel: channel, item: item), default: 0] += 1
            snapshots[channel]?.endStretch(item: item)
        case .update, .lostUpdates, .secondLevelFailed, .secondLevelLostUpdates, .realMaxFrequency: break
        }
    }

    private mutating func endStretch(ofChannel channel: Int) {
        stretches[channel, default: 0] += 1
        snapshots[channel]?.endStretch()
    }

    @discardableResult
    private mutating func add(
        _ content: PendingEntry.Content,
        sequence: UInt64,
        row: PendingRow?,
        weight: Int,
        channel: Int
    ) -> Int {
        let entry = PendingEntry(
            content: content,
            firstSequence: sequence,
            lastSequence: sequence,
            row: row,
            weight: weight,
            channel: channel
        )
        return queue.append(entry)
    }

    // MARK: - Removing

    /// Whether the first event is a conflated update, which a frequency limit may hold back. Later events wait for the update, as
    /// a client resumes after the last event that it has received.
    mutating func beginsWithConflated() -> Bool {
        if case .conflated = queue.first()?.content { true } else { false }
    }

    mutating func removeAll(from channels: Set<Int>) {
        for channel in channels { snapshots[channel] = nil }
        rows = rows.filter { !channels.contains($0.key.channel) }
        lostRows = lostRows.filter { !channels.contains($0.key.channel) }
        for entry in queue.removeAll(from: channels) {
            if entry.isWindowed { windowed -= 1 }
            if case .snapshot(let snapshot) = entry.content { count(snapshot, entries: -1) }
        }
    }

    /// Adds a snapshot to the totals, or removes it from them.
    private mutating func count(_ snapshot: SnapshotPlace, entries: Int) {
        snapshotTotals.entries += entries
        snapshotTotals.events += entries * snapshot.remaining
        snapshotTotals.weight += entries * snapshot.weight
    }

    /// Removes all events; the rows that may have been received stay known.
    mutating func removeAll() {
        let present = readRows
        self = PendingEvents(window: window)
        readRows = present
    }

    /// Removes and returns the first event, with the sequence of its id.
    mutating func popFirst() -> (content: PendingEntry.Content, id: UInt64)? {
        guard let entry = queue.first() else {
            removeAll()
            return nil
        }
        if case .snapshot(let snapshot) = entry.content { return popFirst(of: snapshot, at: entry.place) }
        if let row = entry.row {
            if rows[row] == entry.place { rows[row] = nil }
            if lostRows[row] == entry.place { lostRows[row] = nil }
            if entry.isWindowed { windowed -= 1 }
        }
        queue.empty(entry.place)
        // An event of the gateway (channel 0) has a sequence behind those of events that may follow it.
        if entry.channel != 0 { newestRead = max(newestRead, entry.lastSequence) }
        return (entry.content, max(endReading(), entry.firstSequence))
    }

    /// An entry was read. Returns the sequence up to which no event is missing.
    private mutating func endReading() -> UInt64 {
        let newest = newestRead
        guard let next = queue.first() else {
            removeAll()
            return newest
        }
        return min(newest, max(next.firstSequence, 1) - 1)
    }

    private mutating func popFirst(of snapshot: SnapshotPlace, at place: Int) -> (PendingEntry.Content, UInt64)? {
        count(snapshot, entries: -1)
        var event = snapshot.next()
        if snapshot.isAtEnd {
            if snapshots[snapshot.channel] === snapshot { snapshots[snapshot.channel] = nil }
            queue.empty(place)
            newestRead = max(newestRead, snapshot.newestTaken)
            let last = endReading()
            if let sequence = event?.sequence { event?.sequence = max(sequence, last) }
        } else {
            count(snapshot, entries: 1)
        }
        return event ?? popFirst()
    }
}
