public import SessionCore
internal import Synchronization

/// Events of a client or subscription as an asynchronous sequence with a bounded buffer.
///
/// The sequence starts with the next event and ends with the client. A reader that falls behind by more than the buffer
/// receives the buffered events, then `ClientError` with `slowReader`. One task at a time reads the sequence; each further task calls
/// `events()` itself.
public struct EventSequence<Event: Sendable>: AsyncSequence, Sendable {
    private let stream: AsyncThrowingStream<Event, any Error>

    init(_ stream: AsyncThrowingStream<Event, any Error>) { self.stream = stream }

    /// Creates an iterator.
    public func makeAsyncIterator() -> AsyncThrowingStream<Event, any Error>.Iterator { stream.makeAsyncIterator() }
}

/// Feeds one event sequence. An event that exceeds the buffer ends the sequence.
final class SequenceFeed<Event: Sendable>: Sendable {
    private let continuation: AsyncThrowingStream<Event, any Error>.Continuation

    init(_ continuation: AsyncThrowingStream<Event, any Error>.Continuation) { self.continuation = continuation }

    func yield(_ event: Event) {
        guard case .dropped = continuation.yield(event) else { return }
        continuation.finish(throwing: ClientError(.slowReader, rule: "The events were read too slowly"))
    }

    deinit { continuation.finish() }
}

/// Feeds the event sequence of a client.
final class ClientFeed: ClientObserver, Sendable {
    private let feed: SequenceFeed<ClientEvent>

    init(_ feed: SequenceFeed<ClientEvent>) { self.feed = feed }

    var observesSubscriptions: Bool { true }

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) { feed.yield(event) }
}

extension LightstreamerClient {
    /// All events of this client, of its subscriptions and of its messages, from now on, in order. The sequence ends
    /// when the client does, or with `slowReader` for a reader that falls behind by more than the limit.
    public func events(bufferedUpTo limit: Int = 1_024) -> EventSequence<ClientEvent> {
        let (stream, continuation) = AsyncThrowingStream<ClientEvent, any Error>.makeStream(
            bufferingPolicy: .bufferingOldest(max(1, limit))
        )
        let observer = ClientFeed(SequenceFeed(continuation))
        continuation.onTermination = { [weak core, weak observer] _ in
            guard let core, let observer else { return }
            core.perform { $0.remove(observer) }
        }
        core.perform { $0.add(observer) }
        return EventSequence(stream)
    }
}

extension SequenceFeed: SubscriptionObserver where Event == SubscriptionEvent {
    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent) { yield(event) }

    func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {
        if cause == .shutDown { continuation.finish() }
    }
}

extension Subscription {
    /// All events of this subscription, from the next on, in order. The sequence ends with the client that the subscription is
    /// active on, and with the subscription object; a reader that falls behind by more than the limit gets `slowReader`.
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
}
