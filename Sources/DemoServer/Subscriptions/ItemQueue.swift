internal import TLCP

/// The pending events of one item, queued according to the mode.
enum ItemQueue: Sendable {
    /// MERGE, DISTINCT, RAW.
    case rows(RowQueue)
    /// COMMAND.
    case table(CommandQueue)

    /// An empty queue.
    init(mode: SubscriptionMode, policy: QueuePolicy) {
        self = mode == .command ? .table(CommandQueue(policy: policy)) : .rows(RowQueue(policy: policy))
    }

    /// Whether no event is pending.
    var isEmpty: Bool {
        switch self {
        case .rows(let queue): queue.isEmpty
        case .table(let queue): queue.isEmpty
        }
    }

    /// Changes limits and rates; pending events are kept.
    mutating func adopt(_ policy: QueuePolicy) {
        change({ $0.policy = policy }, { $0.policy = policy })
    }

    /// A row of the snapshot, or the end of it.
    mutating func offerSnapshot(_ event: ItemEvent) {
        change({ $0.offerSnapshot(event) }, { $0.offerSnapshot(event) })
    }

    /// A new row.
    mutating func offer(_ row: FeedRow) {
        change({ $0.offer(row) }, { $0.offer(row) })
    }

    /// The item was cleared.
    mutating func offerClear() {
        change({ $0.offerClear() }, { $0.offerClear() })
    }

    /// Events were lost before they reached the queue.
    mutating func offerLoss(_ count: Int) {
        change({ $0.offerLoss(count) }, { $0.offerLoss(count) })
    }

    /// Removes and returns the next event that may be sent.
    mutating func next(at now: Duration) -> ItemQueueHead {
        var head = ItemQueueHead.empty
        change({ head = $0.next(at: now) }, { head = $0.next(at: now) })
        return head
    }

    /// Changes the queue in place, without a copy of its events.
    private mutating func change(_ rows: (inout RowQueue) -> Void, _ table: (inout CommandQueue) -> Void) {
        switch consume self {
        case .rows(var queue):
            rows(&queue)
            self = .rows(queue)
        case .table(var queue):
            table(&queue)
            self = .table(queue)
        }
    }
}

/// The result of taking the next event of a queue.
enum ItemQueueHead: Sendable, Hashable {
    /// An event that was removed from the queue.
    case event(ItemEvent)
    /// No event may be sent before this instant.
    case notBefore(Duration)
    /// No event is pending.
    case empty
}

/// Limits and rates of a queue.
struct QueuePolicy: Sendable, Hashable {
    /// Greatest number of pending events; beyond it the oldest is removed.
    var capacity: Int

    /// Whether every event is forwarded unchanged; lost ones are reported by `OV`.
    var isUnfiltered: Bool

    /// Least time between two updates of an item, or of a key in COMMAND mode; nil for no limit.
    var interval: Duration?
}
