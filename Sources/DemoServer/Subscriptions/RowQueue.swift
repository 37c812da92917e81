internal import DequeModule

/// The pending events of one item in MERGE, DISTINCT or RAW mode.
struct RowQueue: Sendable {
    /// Bounds and rates; may change at any time.
    var policy: QueuePolicy

    /// The snapshot and its end: not limited in number and frequency, and sent before all other events.
    private var snapshot = Deque<ItemEvent>()
    private var live = Deque<ItemEvent>()
    private var liveRows = 0
    private var lost = 0
    private var lastRowAt: Duration?

    /// A queue without events.
    init(policy: QueuePolicy) {
        self.policy = policy
    }

    /// Whether no event is pending.
    var isEmpty: Bool { snapshot.isEmpty && live.isEmpty && lost == 0 }

    /// A row of the snapshot, or the end of it.
    mutating func offerSnapshot(_ event: ItemEvent) {
        snapshot.append(event)
    }

    /// A new row. Rows contain all values, so that removing one is the same as merging it into the next.
    mutating func offer(_ row: FeedRow) {
        while liveRows >= max(1, policy.capacity), let oldest = live.firstIndex(where: \.isRow) {
            live.remove(at: oldest)
            liveRows -= 1
            if policy.isUnfiltered { lost += 1 }
        }
        live.append(.row(row))
        liveRows += 1
    }

    /// The item was cleared: pending rows are removed, except in unfiltered subscriptions.
    mutating func offerClear() {
        if !policy.isUnfiltered {
            snapshot.removeAll(where: \.isRow)
            live.removeAll()
            liveRows = 0
        }
        live.append(.cleared)
    }

    /// Events were lost before they reached the queue.
    mutating func offerLoss(_ count: Int) {
        if policy.isUnfiltered { lost = min(lost + count, 1_000_000_000) }
    }

    /// Removes and returns the next event that may be sent.
    mutating func next(at now: Duration) -> ItemQueueHead {
        if let event = snapshot.popFirst() {
            if event.isRow { lastRowAt = now }
            return .event(event)
        }
        if lost > 0 {
            defer { lost = 0 }
            return .event(.lost(lost))
        }
        guard let event = live.first else { return .empty }
        if event.isRow {
            if let interval = policy.interval, let last = lastRowAt, last + interval > now {
                return .notBefore(last + interval)
            }
            lastRowAt = now
            liveRows -= 1
        }
        _ = live.popFirst()
        return .event(event)
    }
}
