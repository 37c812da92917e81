internal import DequeModule

/// The pending events of one item in MERGE, DISTINCT or RAW mode.
struct RowQueue: ItemQueue {
    var policy: QueuePolicy

    /// The snapshot and its end: not limited in number and frequency, and sent before all other events.
    private var snapshot = Deque<ItemEvent>()
    private var live = Deque<ItemEvent>()
    private var liveRows = 0
    private var lost = 0
    private var lastRowAt: Duration?

    init(policy: QueuePolicy) { self.policy = policy }

    var isEmpty: Bool { snapshot.isEmpty && live.isEmpty && lost == 0 }

    mutating func offerSnapshot(_ event: ItemEvent) { snapshot.append(event) }

    mutating func offer(_ row: FeedRow) {
        // Rows contain all values, so that removing one is the same as merging it into the next.
        while liveRows >= max(1, policy.capacity), let oldest = live.firstIndex(where: \.isRow) {
            live.remove(at: oldest)
            liveRows -= 1
            if policy.isUnfiltered { lost += 1 }
        }
        live.append(.row(row))
        liveRows += 1
    }

    mutating func offerClear() {
        if !policy.isUnfiltered {
            snapshot.removeAll(where: \.isRow)
            live.removeAll()
            liveRows = 0
        }
        live.append(.cleared)
    }

    mutating func offerLoss(_ count: Int) { if policy.isUnfiltered { lost = min(lost + count, 1_000_000_000) } }

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
