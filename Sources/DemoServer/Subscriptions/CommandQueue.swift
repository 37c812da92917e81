/// What waits to be sent about one item in COMMAND mode: updates merge per key, appearance and disappearance never get lost.
struct CommandQueue: Sendable {
    /// Bounds and rates; may change at any time.
    var policy: QueuePolicy {
        didSet { if policy.interval != oldValue.interval { holdAnew() } }
    }

    private var entries = Fifo<ItemEvent>()
    /// Where in `entries` the last row of a key waits.
    private var positions: [String: Int] = [:]
    /// Updates that came too early for their key's frequency.
    private var held: [String: FeedRow] = [:]
    private var holdUntil = DeadlineQueue<String>()
    private var lastRowAt: [String: Duration] = [:]
    private var lost = 0

    /// A queue without events.
    init(policy: QueuePolicy) {
        self.policy = policy
    }

    /// Whether nothing waits.
    var isEmpty: Bool { entries.isEmpty && held.isEmpty && lost == 0 }

    /// A row of the snapshot, or the end of it.
    mutating func offerSnapshot(_ event: ItemEvent) {
        append(event)
        // Nothing merges over the end of the snapshot: what came before it is a snapshot row, what comes after is not.
        if event == .endOfSnapshot { positions.removeAll() }
    }

    /// A new row.
    mutating func offer(_ row: FeedRow) {
        guard let command = row.command else { return }
        if !policy.isUnfiltered, merge(row, command) { return }
        if entries.count + held.count >= max(16, policy.capacity) {
            _ = entries.removeFirst(where: \.isRow)
            // What stood behind the row moved up.
            positions.removeAll()
            lost += 1
        }
        append(.row(row))
    }

    /// The table was emptied; all keys go.
    mutating func offerClear() {
        if !policy.isUnfiltered {
            entries.keep { !$0.isRow }
            held.removeAll()
            holdUntil = DeadlineQueue()
        }
        positions.removeAll()
        entries.append(.cleared)
    }

    /// Events were lost before they came here.
    mutating func offerLoss(_ count: Int) {
        if policy.isUnfiltered { lost = min(lost + count, 1_000_000_000) }
    }

    /// Takes the next event out that may go.
    mutating func next(at now: Duration) -> ItemQueueHead {
        if lost > 0 {
            defer { lost = 0 }
            return .event(.lost(lost))
        }
        if let key = holdUntil.popDue(by: now)?.key, let row = held.removeValue(forKey: key) {
            return .event(sent(.row(row), at: now))
        }
        while let event = entries.popFirst() {
            guard let until = gate(for: event, at: now) else { return .event(sent(event, at: now)) }
            guard case .row(let row) = event, let key = row.command?.key else { continue }
            positions[key] = nil
            held[key] = row
            holdUntil.set(key, at: until)
        }
        return holdUntil.earliest.map { .notBefore($0) } ?? .empty
    }

    private mutating func append(_ event: ItemEvent) {
        if case .row(let row) = event, let key = row.command?.key { positions[key] = entries.endPosition }
        entries.append(event)
    }

    /// Joins the row with one of the same key that still waits; false if there is none it may join with.
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
        guard let position = positions[command.key], case .row(let waiting)? = entries[position: position],
            let kind = waiting.command?.kind
        else { return false }
        switch (kind, command.kind) {
        case (.add, .update):
            var joined = row
            // The wire text of the command is made from the kind when the row goes out.
            joined.command?.kind = .add
            entries[position: position] = .row(joined)
            return true
        case (.update, .update), (.update, .delete):
            entries[position: position] = .row(row)
            return true
        case (.add, _), (.update, .add), (.delete, _):
            return false
        }
    }

    /// What is held back waits as long as the present rate demands, no longer.
    private mutating func holdAnew() {
        var keys: [String] = []
        while let key = holdUntil.popDue(by: .boundedSeconds(.infinity))?.key { keys.append(key) }
        for key in keys {
            holdUntil.set(
                key,
                at: policy.interval.flatMap { interval in lastRowAt[key].map { $0 + interval } } ?? .zero
            )
        }
    }

    /// The instant before which an update of its key may not go; nil if it may go now.
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
            if let position = positions[command.key], position < entries.firstPosition { positions[command.key] = nil }
            lastRowAt[command.key] = policy.interval == nil || command.kind == .delete ? nil : now
        case .cleared:
            lastRowAt.removeAll()
        case .endOfSnapshot, .lost:
            break
        }
        return event
    }
}
