package import Changes
package import EventHub
package import MicroHTTPD
internal import Primitives
package import StreamIO

package struct StreamListing: Sendable {
    package let summary: StreamSummary
    package let owner: StreamOwner
}

package struct StreamOwner: Sendable, Equatable {
    /// The peer's address, as text.
    package var peer: String
    /// The name of the caller's key or token; nil without authentication.
    package var identity: String?

    package init(peer: String, identity: String? = nil) {
        self.peer = peer
        self.identity = identity
    }
}

/// The streams that are open, from the caller's request to their end.
package final class StreamRegistry: Sendable {
    /// Called once at the end of a stream, on the thread of its loop; if the stream was never opened, on any thread.
    package typealias EndAction = @Sendable (StreamEnd) -> Void

    package let hub: EventHub
    private let owners = RankedMutex<[String: StreamOwner]>([:])

    package init(hub: EventHub) { self.hub = hub }

    package func makeFeed(for loop: StreamLoop) -> HubShard {
        hub.makeShard(seed: .random(in: .min ... .max), wake: loop.waker)
    }

    /// Admits a stream. It counts as open from now on; the HTTP server, which gets it with `headers(for:)`, opens or ends
    /// it. Its first sequence is determined when it is opened.
    ///
    /// - Parameters:
    ///   - id: The id of the stream if it was announced before; ignored if an open stream has it.
    ///   - isWaiting: Whether the stream has no events before `hub` begins it.
    ///   - onEnd: Called once when the stream is over.
    /// - Throws: `unknownSource`; nothing is left behind.
    package func open(
        _ request: StreamRequest,
        owner: StreamOwner,
        id: String? = nil,
        isWaiting: Bool = false,
        onEnd: @escaping EndAction = { _ in }
    ) throws(HubError) -> AdmittedStream {
        let id = try hub.admit(request, id: id, isWaiting: isWaiting)
        owners.withLock { $0[id] = owner }
        return AdmittedStream(id: id) { [weak self] end in
            if end == .neverOpened { self?.hub.discard(stream: id) }
            _ = self?.owners.withLock { $0.removeValue(forKey: id) }
            onEnd(end)
        }
    }

    /// The header lines of the response that carries a stream.
    package static func headers(for request: StreamRequest) -> HTTPFields {
        var headers: HTTPFields = [
            HTTPField("Content-Type", request.format.contentType),
            HTTPField("Cache-Control", "no-store, no-transform"),
            HTTPField("X-Accel-Buffering", "no"),
            HTTPField("Vary", "Accept-Encoding"),
        ]
        if request.compresses { headers.append("Content-Encoding", "gzip") }
        return headers
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

    /// Sends a stream its closing event and closes it; false if there is none of this id.
    @discardableResult
    package func close(_ id: String, reason: String) -> Bool { hub.close(stream: id, reason: reason) }

    /// The number of open streams.
    package var count: Int { owners.withLock { $0.count } }
}
