package import EventHub
package import MicroHTTPD
internal import Synchronization

/// The streams that are open, from the caller's request to their end.
package final class StreamRegistry: Sendable {
    /// Called once when a stream is over, on the thread of its loop: a good place to leave a shared subscription.
    package typealias EndAction = @Sendable (StreamEnd) -> Void

    private let hub: EventHub
    private let owners = Mutex<[String: StreamOwner]>([:])

    /// A registry without streams.
    package init(hub: EventHub) { self.hub = hub }

    /// The feed of a loop; give this to the daemon.
    package func makeFeed(for loop: StreamLoop) -> HubFeed {
        HubFeed(shard: hub.makeShard { loop.wake() })
    }

    /// Makes a stream. It counts as open from now on; hand it to the front end, with `head(for:)`, which opens or ends
    /// it. Its place in the sequence is decided when the front end opens it.
    ///
    /// - Parameters:
    ///   - request: What the caller asks.
    ///   - owner: Who asks.
    ///   - id: The id it should have, for streams that were announced before; taken only if no open stream has it.
    ///   - onEnd: Called once when the stream is over.
    /// - Throws: `unknownSource`; nothing is left behind.
    package func open(
        _ request: StreamRequest,
        owner: StreamOwner,
        id: String? = nil,
        onEnd: @escaping EndAction = { _ in }
    ) throws(HubError) -> sending LiveStream {
        let id = try hub.admit(request, id: id)
        owners.withLock { $0[id] = owner }
        return LiveStream(id: id, hub: hub, seed: UInt64.random(in: .min ... .max)) { [weak self] end in
            _ = self?.owners.withLock { $0.removeValue(forKey: id) }
            onEnd(end)
        }
    }

    /// The head of the response that carries a stream.
    package static func head(for request: StreamRequest) -> HTTPStreamHead {
        HTTPStreamHead(
            headers: [
                HTTPField("Content-Type", request.format.contentType),
                HTTPField("Cache-Control", "no-store, no-transform"),
                HTTPField("X-Accel-Buffering", "no"),
            ]
        )
    }

    /// All open streams, in the order of their ids.
    package func list() -> [StreamListing] {
        let owners = owners.withLock { $0 }
        return hub.streams().compactMap { summary in
            owners[summary.id].map { StreamListing(summary: summary, owner: $0) }
        }
    }

    /// One open stream; nil if there is none of this id.
    package func listing(of id: String) -> StreamListing? {
        guard let summary = hub.stream(id), let owner = owners.withLock({ $0[id] }) else { return nil }
        return StreamListing(summary: summary, owner: owner)
    }

    /// Changes the sources of a live stream, all or nothing. Sources that it already has, or does not have, are passed
    /// over.
    package func patch(_ id: String, add: [StreamSource], remove: [StreamSource]) throws(HubError) {
        try hub.change(stream: id, add: add, remove: remove)
    }

    /// Tells a stream that it is being closed, and closes it; false if there is none of this id.
    @discardableResult
    package func close(_ id: String, reason: String) -> Bool {
        hub.close(stream: id, reason: reason)
    }

    /// Tells all streams that they are being closed, and closes them.
    package func closeAll(reason: String) { hub.closeAll(reason: reason) }

    /// The number of open streams.
    package var count: Int { owners.withLock { $0.count } }
}
