internal import SessionCore

/// The events of one reader that have no shared bytes: snapshots, and events that it reads too late. Conflation is
/// applied here.
///
/// Entries are ordered by their first event. The id of an entry is that of its last event, or the one before the next
/// entry's first event if that is less: up to this id no event is missing. A reader that resumes in the middle of
/// conflated events misses none of them; it may receive values again as part of a newer state.
struct PendingEvents {
    /// The limits for events that cannot be conflated.
    struct Window: Sendable {
        /// DISTINCT and RAW updates.
        var events: Int
        /// The weight of all events.
        var weight: Int
    }

    /// The losses that an event caused.
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

    private var entries: [PendingEntry] = []
    private var head = 0
    /// The place of the first element of `entries`: the number of entries that were removed before it.
    private var base = 0
    private var rows: [PendingRow: Int] = [:]
    private var lostRows: [PendingRow: Int] = [:]
    private var stretches: [Int: Int] = [:]
    private var itemStretches: [ItemKey: Int] = [:]
    private var windowed = 0
    private var oldestWindowed = 0
    private let window: Window
    /// The approximate size of the entries in bytes.
    private(set) var weight = 0
    /// The number of entries.
    private(set) var count = 0
    /// Whether there are entries other than conflated updates, which a stream with a frequency limit sends at once.
    private(set) var isUrgent = false

    private struct ItemKey: Hashable {
        let channel: Int
        let item: Int
    }

    /// No events.
    init(window: Window) { self.window = window }

    /// Whether nothing is pending.
    var isEmpty: Bool { count == 0 }

    /// Whether the limit of pending events is exceeded.
    var isOverfull: Bool { weight > window.weight }

    // MARK: - Adding

    /// The approximate size of an event of the gateway, in bytes.
    private static let controlWeight = 200

    /// Adds an event of the gateway behind all events up to a sequence.
    mutating func append(_ event: ControlEvent, after sequence: UInt64) {
        isUrgent = true
        add(.control(event), sequence: sequence &+ 1, row: nil, weight: Self.controlWeight, channel: 0)
    }

    /// Adds an event. Events arrive in the order of their sequences.
    mutating func append(
        _ event: HubEvent,
        sequence: UInt64,
        context: TopicContext,
        channel: Int,
        conflating: Bool
    ) -> Losses {
        guard case .subscription(let change) = event else {
            isUrgent = true
            add(.event(event, context), sequence: sequence, row: nil, weight: event.weight, channel: channel)
            return Losses()
        }
        if conflating, case .update(let update) = change {
            switch context.policy {
            case .conflateByItem: return conflate(update, nil, sequence, context, channel)
            case .conflateByKey: return conflate(update, update.key, sequence, context, channel)
            case .keepNewest: return keep(update, sequence, context, channel)
            case .keepEverything: break
            }
        }
        isUrgent = true
        endStretch(for: change, channel)
        add(.event(event, context), sequence: sequence, row: nil, weight: event.weight, channel: channel)
        return Losses()
    }

    private mutating func conflate(
        _ update: ItemUpdate,
        _ key: String?,
        _ sequence: UInt64,
        _ context: TopicContext,
        _ channel: Int
    ) -> Losses {
        let row = self.row(channel, update.itemPos, key)
        guard let place = rows[row], case .conflated(var present, _) = entries[place - base].content,
            !present.isDeletion || update.command == "DELETE"
        else {
            rows[row] = base + entries.count
            let weight = HubEvent.weight(of: update)
            let content = PendingEntry.Content.conflated(ConflatedUpdate(update), context)
            add(content, sequence: sequence, row: row, weight: weight, channel: channel)
            return Losses()
        }
        if present.startsWithAdd, update.command == "DELETE" {
            // The reader has not received the row: neither event is sent.
            let swallowed = present.count + 1
            rows[row] = nil
            void(place)
            return Losses(conflated: swallowed)
        }
        // Emptied first, so that the update is changed in place and not in a copy.
        entries[place - base].content = .void
        present.add(update)
        entries[place - base].content = .conflated(present, context)
        entries[place - base].lastSequence = sequence
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
        isUrgent = true
        if windowed == 0 { oldestWindowed = base + entries.count }
        windowed += 1
        add(.event(event, context), sequence: sequence, row: row, weight: event.weight, channel: channel)
        var losses = Losses()
        while windowed > window.events || (isOverfull && windowed > 0) {
            loseOldest()
            losses.dropped += 1
        }
        return losses
    }

    private mutating func loseOldest() {
        while oldestWindowed < base + entries.count {
            let place = oldestWindowed
            oldestWindowed += 1
            let entry = entries[place - base]
            guard case .event(_, let context) = entry.content, let row = entry.row else { continue }
            windowed -= 1
            if let lost = lostRows[row], case .lost(let item, let count, _) = entries[lost - base].content {
                entries[lost - base].content = .lost(item: item, count: count + 1, context)
                entries[lost - base].lastSequence = entry.lastSequence
                void(place)
            } else {
                lostRows[row] = place
                entries[place - base].content = .lost(item: row.item, count: 1, context)
            }
            return
        }
    }

    private func row(_ channel: Int, _ item: Int, _ key: String?) -> PendingRow {
        let stretch = stretches[channel, default: 0] + itemStretches[ItemKey(channel: channel, item: item), default: 0]
        return PendingRow(channel: channel, item: item, key: key, stretch: stretch)
    }

    private mutating func endStretch(for event: SubscriptionEvent, _ channel: Int) {
        switch event {
        case .subscribed, .unsubscribed, .failed:
            stretches[channel, default: 0] += 1
        case .endOfSnapshot(let item), .clearSnapshot(let item):
            itemStretches[ItemKey(channel: channel, item: item), default: 0] += 1
        case .update, .lostUpdates, .secondLevelFailed, .secondLevelLostUpdates, .realMaxFrequency:
            break
        }
    }

    private mutating func add(
        _ content: PendingEntry.Content,
        sequence: UInt64,
        row: PendingRow?,
        weight: Int,
        channel: Int
    ) {
        self.weight += weight
        count += 1
        let entry = PendingEntry(
            content: content,
            firstSequence: sequence,
            lastSequence: sequence,
            row: row,
            weight: weight,
            channel: channel
        )
        entries.append(entry)
    }

    private mutating func void(_ place: Int) {
        guard !entries[place - base].isVoid else { return }
        entries[place - base].content = .void
        weight -= entries[place - base].weight
        count -= 1
    }

    /// Removes the events of a channel.
    mutating func removeAll(from channel: Int) {
        for index in head..<entries.count where entries[index].channel == channel && !entries[index].isVoid {
            if case .event = entries[index].content, entries[index].row != nil { windowed -= 1 }
            void(base + index)
        }
    }

    /// Removes all events.
    mutating func removeAll() { self = PendingEvents(window: window) }

    // MARK: - Removing

    /// Removes and returns the first entry, with the sequence of its id.
    mutating func popFirst() -> (entry: PendingEntry, id: UInt64)? {
        while head < entries.count, entries[head].isVoid { head += 1 }
        guard head < entries.count else {
            if !entries.isEmpty { removeAll() }
            return nil
        }
        let entry = entries[head]
        if let row = entry.row {
            if rows[row] == base + head { rows[row] = nil }
            if lostRows[row] == base + head { lostRows[row] = nil }
            if case .event = entry.content { windowed -= 1 }
        }
        void(base + head)
        while head < entries.count, entries[head].isVoid { head += 1 }
        let isLast = head == entries.count
        let id = isLast ? entry.lastSequence : min(entry.lastSequence, max(entries[head].firstSequence, 1) - 1)
        if isLast { removeAll() } else { compact() }
        return (entry, max(id, entry.firstSequence))
    }

    private mutating func compact() {
        guard head > 64, head * 2 > entries.count else { return }
        entries.removeFirst(head)
        base += head
        head = 0
        if oldestWindowed < base { oldestWindowed = base }
    }
}

extension PendingEntry {
    /// Whether the entry is empty.
    var isVoid: Bool {
        if case .void = content { true } else { false }
    }
}
