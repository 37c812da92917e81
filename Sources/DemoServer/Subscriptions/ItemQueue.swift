internal import TLCP

/// What waits to be sent about one item; how it waits is a matter of the mode.
enum ItemQueue: Sendable {
    /// MERGE, DISTINCT, RAW.
    case rows(RowQueue)
    /// COMMAND.
    case table(CommandQueue)

    /// An empty queue.
    init(mode: WireMode, policy: QueuePolicy) {
        self = mode == .command ? .table(CommandQueue(policy: policy)) : .rows(RowQueue(policy: policy))
    }

    /// Whether nothing waits.
    var isEmpty: Bool {
        switch self {
        case .rows(let queue): queue.isEmpty
        case .table(let queue): queue.isEmpty
        }
    }

    /// Changes bounds and rates; what waits already is kept.
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

    /// The item was emptied.
    mutating func offerClear() {
        change({ $0.offerClear() }, { $0.offerClear() })
    }

    /// Events were lost before they came here.
    mutating func offerLoss(_ count: Int) {
        change({ $0.offerLoss(count) }, { $0.offerLoss(count) })
    }

    /// Takes the next event out that may go.
    mutating func next(at now: Duration) -> ItemQueueHead {
        var head = ItemQueueHead.empty
        change({ head = $0.next(at: now) }, { head = $0.next(at: now) })
        return head
    }

    /// Changes the queue in its place: taking it out and putting it back would copy what waits.
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

/// What a queue has to offer at an instant.
enum ItemQueueHead: Sendable, Hashable {
    /// This event, now taken out of the queue.
    case event(ItemEvent)
    /// Nothing before this instant.
    case notBefore(Duration)
    /// Nothing.
    case empty
}

/// What becomes of events that cannot be sent at once.
struct QueuePolicy: Sendable, Hashable {
    /// Pending events that an item may have; the oldest goes when there is one more.
    var capacity: Int

    /// Whether every event is forwarded unchanged; lost ones are reported by `OV`.
    var isUnfiltered: Bool

    /// Least time between two updates of an item, or of a key in COMMAND mode; nil for no limit.
    var interval: Duration?
}
