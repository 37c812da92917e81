/// The pending events of one item.
protocol ItemQueue: Sendable {
    /// Limits and rates; pending events are kept when they change.
    var policy: QueuePolicy { get set }
    var isEmpty: Bool { get }
    /// Queues a row of the snapshot, or its end.
    mutating func offerSnapshot(_ event: ItemEvent)
    mutating func offer(_ row: FeedRow)
    /// The item was cleared: pending rows are removed, except in unfiltered subscriptions.
    mutating func offerClear()
    /// Events were lost before they reached the queue.
    mutating func offerLoss(_ count: Int)
    /// Removes and returns the next event that may be sent.
    mutating func next(at now: Duration) -> ItemQueueHead
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
    /// Greatest number of pending events; beyond it the oldest event is removed.
    var capacity: Int
    /// Whether every event is forwarded unchanged; lost ones are reported by `OV`.
    var isUnfiltered: Bool
    /// Least time between two updates of an item, or of a key in COMMAND mode; nil for no limit.
    var interval: Duration?
}
