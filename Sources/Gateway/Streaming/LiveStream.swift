internal import EventHub
package import MicroHTTPD
internal import SessionCore

/// One open stream, between the hub and the front end. Used on the thread of its loop from `opened` on.
package final class LiveStream: StreamContent {
    /// The stream's id, as it is listed.
    package let id: String
    private let hub: EventHub
    private let seed: UInt64
    private let onEnd: StreamRegistry.EndAction
    private var place: Place?

    private struct Place {
        let stream: StreamID
        let feed: HubFeed
        let subscriber: Subscriber
    }

    /// A stream that the hub admitted; the seed decides its delays.
    init(id: String, hub: EventHub, seed: UInt64, onEnd: @escaping StreamRegistry.EndAction) {
        self.id = id
        self.hub = hub
        self.seed = seed
        self.onEnd = onEnd
    }

    /// Gives the stream its place in the sequence of events.
    package func opened(_ opening: StreamOpening) {
        guard let feed = opening.feed as? HubFeed else {
            preconditionFailure("a stream of the hub was given to a loop without a feed of the hub")
        }
        let subscriber = feed.shard.open(
            stream: id,
            tag: opening.id.slot,
            isChunked: opening.framing == .chunked,
            seed: seed,
            now: Moment(opening.now)
        )
        guard let subscriber else { return }
        feed.add(opening.id)
        place = Place(stream: opening.id, feed: feed, subscriber: subscriber)
    }

    /// Gives what is due.
    package func fill(_ batch: inout StreamBatch, now: StreamTime) -> StreamProgress {
        guard let place else { return .finish }
        switch place.subscriber.fill(&batch, now: Moment(now)) {
        case .idle(let wakeAt): return .idle(wakeAt: StreamTime(wakeAt))
        case .more: return .more
        case .finished: return .finish
        }
    }

    /// Reads for itself until it has caught up.
    package func blocked() { place?.subscriber.leaveLiveGroup() }

    /// Leaves the hub.
    package func ended(_ reason: StreamEnd) {
        if let place {
            place.feed.remove(place.stream)
            place.feed.shard.close(place.subscriber)
        } else {
            hub.discard(stream: id)
        }
        place = nil
        onEnd(reason)
    }
}
