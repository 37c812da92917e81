/// What becomes of events that cannot be sent at once.
struct QueuePolicy: Sendable, Hashable {
    /// Pending events that an item may have; the oldest goes when there is one more.
    var capacity: Int

    /// Whether everything is to be forwarded as it came, and what is lost all the same is told by `OV`.
    var isUnfiltered: Bool

    /// Least time between two updates of an item, or of a key in COMMAND mode; nil for no limit.
    var interval: Duration?
}
