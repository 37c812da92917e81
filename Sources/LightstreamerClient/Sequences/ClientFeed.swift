/// Feeds the event sequence of a client.
final class ClientFeed: ClientObserver, Sendable {
    private let feed: SequenceFeed<ClientEvent>

    init(_ feed: SequenceFeed<ClientEvent>) { self.feed = feed }

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
