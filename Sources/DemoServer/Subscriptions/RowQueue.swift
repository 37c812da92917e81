/// What waits to be sent about one item in MERGE, DISTINCT or RAW mode.
struct RowQueue: Sendable {
    /// Bounds and rates; may change at any time.
    var policy: QueuePolicy

    /// The snapshot and its end: not limited in number and frequency, and always ahead of the rest.
    private var snapshot = Fifo<ItemEvent>()
    private var live = Fifo<ItemEvent>()
    private var liveRows = 0
    private var lost = 0
    private var lastRowAt: Duration?

    /// A queue without events.
    init(policy: QueuePolicy) {
        self.policy = policy
    }

    /// Whether nothing waits.
    var isEmpty: Bool { snapshot.isEmpty && live.isEmpty && lost == 0 }

    /// A row of the snapshot, or the end of it.
    mutating func offerSnapshot(_ event: ItemEvent) {
        snapshot.append(event)
    }

    /// A new row. Rows hold every value, so that dropping one is the same as merging it into the next.
    mutating func offer(_ row: FeedRow) {
        while liveRows >= max(1, policy.capacity), live.removeFirst(where: \.isRow) != nil {
            liveRows -= 1
            if policy.isUnfiltered { lost += 1 }
        }
        live.append(.row(row))
        liveRows += 1
    }

    /// The item was emptied: what was not sent yet need not be any more, unless everything was asked for.
    mutating func offerClear() {
        if !policy.isUnfiltered {
            snapshot.keep { !$0.isRow }
            live.removeAll()
            liveRows = 0
        }
        live.append(.cleared)
    }

    /// Events were lost before they came here.
    mutating func offerLoss(_ count: Int) {
        if policy.isUnfiltered { lost = min(lost + count, 1_000_000_000) }
    }

    /// Takes the next event out that may go.
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
