/// What a queue has to offer at an instant.
enum ItemQueueHead: Sendable, Hashable {
    /// This event, now taken out of the queue.
    case event(ItemEvent)
    /// Nothing before this instant.
    case notBefore(Duration)
    /// Nothing.
    case empty
}
