public import SessionCore
internal import Synchronization

extension SequenceFeed: SubscriptionObserver where Event == SubscriptionEvent {
    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) { yield(event) }
}

extension Subscription {
    /// All events of this subscription, from the next on, in order. The sequence lasts as long as the subscription
    /// object; a reader that falls behind by more than the limit gets `slowReader`.
    public func events(bufferedUpTo limit: Int = 1_024) -> EventSequence<SubscriptionEvent> {
        let (stream, continuation) = AsyncThrowingStream<SubscriptionEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(max(1, limit))
        )
        let feed = SequenceFeed(continuation)
        continuation.onTermination = { [weak self, weak feed] _ in
            if let self, let feed { removeObserver(feed) }
        }
        addObserver(feed)
        return EventSequence(stream)
    }

    /// The updates among `events`.
    public func updates(
        bufferedUpTo limit: Int = 1_024
    ) -> AsyncCompactMapSequence<EventSequence<SubscriptionEvent>, ItemUpdate> {
        events(bufferedUpTo: limit).compactMap { event in
            guard case .update(let update) = event else { return nil }
            return update
        }
    }
}
