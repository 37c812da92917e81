internal import DequeModule
internal import TLCP

/// The pending events of one item in COMMAND mode: updates of a key are merged, additions and deletions are not lost.
struct CommandQueue: ItemQueue {
    var policy: QueuePolicy { didSet { if policy.interval != oldValue.interval { rescheduleHeld() } } }

    private var entries = Deque<ItemEvent>()
    /// Number of events removed from the head of `entries`.
    private var popped = 0
    /// Where the events behind the snapshot begin: their index in `entries` plus `popped`. Those before are not limited in
    /// number and frequency.
    private var live = 0
    /// The place of the last pending row of each key: its index in `entries` plus `popped`.
    private var positions: [UpstreamName: Int] = [:]
    /// Updates delayed by the frequency limit of their key.
    private var held: [UpstreamName: FeedRow] = [:]
    private var holdUntil = DeadlineQueue<UpstreamName>()
    private var lastRowAt: [UpstreamName: Duration] = [:]
    private var lost = 0

    init(policy: QueuePolicy) { self.policy = policy }

    var isEmpty: Bool { entries.isEmpty && held.isEmpty && lost == 0 }

    mutating func offerSnapshot(_ event: ItemEvent) {
        append(event)
        live = popped + entries.count
        // Rows are not merged across the end of the snapshot: only the rows before the end are snapshot rows.
        if event == .endOfSnapshot { positions.removeAll() }
    }

    mutating func offer(_ row: FeedRow) {
        guard let command = row.command else { return }
        if !policy.isUnfiltered, merge(row, command) { return }
        let start = max(0, live - popped)
        if entries.count - start + held.count >= max(16, policy.capacity),
            let oldest = entries[start...].firstIndex(where: \.isRow)
        {
            entries.remove(at: oldest)
            // The rows behind the removed row have moved.
            positions.removeAll()
            lost += 1
        }
        append(.row(row))
    }

    mutating func offerClear() {
        if !policy.isUnfiltered {
            live = popped + entries.prefix(max(0, live - popped)).filter { !$0.isRow }.count
            entries.removeAll(where: \.isRow)
            held.removeAll()
            holdUntil = DeadlineQueue()
        }
        positions.removeAll()
        entries.append(.cleared)
    }

    mutating func offerLoss(_ count: Int) { if policy.isUnfiltered { lost = min(lost + count, 1_000_000_000) } }

    mutating func next(at now: Duration) -> ItemQueueHead {
        if lost > 0, popped >= live {
            defer { lost = 0 }
            return .event(.lost(lost))
        }
        if let key = holdUntil.popDue(by: now)?.key, let row = held.removeValue(forKey: key) {
            return .event(sent(.row(row), at: now))
        }
        while let event = entries.popFirst() {
            popped += 1
            // Rows of the snapshot go before its end, whatever their frequency.
            guard popped > live, let until = gate(for: event, at: now) else { return .event(sent(event, at: now)) }
            guard case .row(let row) = event, let key = row.command?.key else { continue }
            positions[key] = nil
            held[key] = row
            holdUntil.set(key, at: until)
        }
        return holdUntil.earliest.map { .notBefore($0) } ?? .empty
    }

    private mutating func append(_ event: ItemEvent) {
        if case .row(let row) = event, let key = row.command?.key { positions[key] = popped + entries.count }
        entries.append(event)
    }

    /// Merges the row with a pending row of the same key; false if there is none, or the two may not be merged.
    private mutating func merge(_ row: FeedRow, _ command: RowCommand) -> Bool {
        if held[command.key] != nil {
            guard command.kind == .update else {
                held[command.key] = nil
                holdUntil.cancel(command.key)
                return false
            }
            held[command.key] = row
            return true
        }
        guard let index = positions[command.key].map({ $0 - popped }), entries.indices.contains(index),
            case .row(let waiting) = entries[index], let kind = waiting.command?.kind
        else { return false }
        switch (kind, command.kind) {
        case (.add, .update):
            var joined = row
            // The text of the command is made from the kind when the row is encoded.
            joined.command?.kind = .add
            entries[index] = .row(joined)
            return true
        case (.update, .update), (.update, .delete):
            entries[index] = .row(row)
            return true
        case (.add, _), (.update, .add), (.delete, _):
            return false
        }
    }

    /// Recomputes the deadlines of the delayed updates for the present frequency.
    private mutating func rescheduleHeld() {
        var keys: [UpstreamName] = []
        while let key = holdUntil.popDue(by: .boundedSeconds(.infinity))?.key { keys.append(key) }
        for key in keys {
            holdUntil.set(
                key,
                at: policy.interval.flatMap { interval in lastRowAt[key].map { $0 + interval } } ?? .zero
            )
        }
    }

    /// The instant before which an update must not be sent; nil: the update may be sent now.
    private func gate(for event: ItemEvent, at now: Duration) -> Duration? {
        guard let interval = policy.interval, case .row(let row) = event, let command = row.command,
            command.kind == .update, let last = lastRowAt[command.key], last + interval > now
        else { return nil }
        return last + interval
    }

    private mutating func sent(_ event: ItemEvent, at now: Duration) -> ItemEvent {
        switch event {
        case .row(let row):
            guard let command = row.command else { return event }
            if let position = positions[command.key], position < popped { positions[command.key] = nil }
            lastRowAt[command.key] = policy.interval == nil || command.kind == .delete ? nil : now
        case .cleared: lastRowAt.removeAll()
        case .endOfSnapshot, .lost: break
        }
        return event
    }
}
