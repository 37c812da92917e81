package import Primitives
package import SessionCore

package enum EventFormat: Sendable, Hashable, CaseIterable {
    /// `text/event-stream`, by the rules of the WHATWG.
    case serverSentEvents
    /// `application/x-ndjson`: one JSON object a line.
    case ndjson

    /// The media type of a response in this format.
    package var contentType: String {
        switch self {
        case .serverSentEvents: "text/event-stream; charset=utf-8"
        case .ndjson: "application/x-ndjson; charset=utf-8"
        }
    }
}

package struct StreamRequest: Sendable {
    /// The caller or the address whose memory budget the stream uses.
    package var owner = ""
    /// The sources of the stream, in the order in which the `stream` event lists them.
    package var sources: [StreamSource]
    /// The subscriptions that were opened for this stream. A stream of no other sources starts with their first events,
    /// also if it is opened later.
    package var opened: Set<SubscriptionID> = []
    /// The subscriptions that the stream names by their properties. A stream that has no other source ends when the server
    /// has refused its subscription before the stream was opened.
    package var joined: Set<SubscriptionID> = []
    package var format: EventFormat = .serverSentEvents
    /// Whether unread events of a late reader are conflated. False: every event is delivered, within a window.
    package var conflates = true
    /// At most this many updates a second for each item (COMMAND: each key), greater than 0; nil: no limit. Implies
    /// conflation, whatever `conflates` is. Updates in DISTINCT and RAW mode are not limited, but keep their places behind updates
    /// that wait.
    package var maxFrequency: Double?
    /// Whether updates carry all fields in `values`, beside the changed ones.
    package var sendsAllFields = false
    /// The subscriptions that the stream has joined by the name of a feed.
    package var typed: Set<SubscriptionID> = []
    /// The types of the fields of these subscriptions: their values have these types. The values of others are text.
    package var types: FieldTypes = [:]
    /// Whether the body of the stream is compressed with gzip.
    package var compresses = false
    /// Whether the stream carries the events of the legacy connection delegate, for its clients and for the clients that
    /// carry its subscriptions.
    package var includesLegacy = false
    /// The subscriptions that the stream reads as those of a client; nil: all of them. Subscriptions that are sources of
    /// their own are not filtered.
    package var filter: (any SubscriptionFilter)?
    /// The id of the last event that the client has, as it sent it; nil or empty: none.
    package var lastEventID: String?
    /// The greatest id of an event that a client can have without the sources that were added last; nil: none were added.
    package var addedAfter: String?
    /// The time of the first event to receive, without `lastEventID`; nil: the stream begins with the present state.
    package var since: Moment?

    /// A request for a conflating stream of Server-Sent Events.
    package init(sources: [StreamSource]) { self.sources = sources }

    /// The same request, with or without compression.
    package func compressed(_ compresses: Bool) -> StreamRequest {
        var request = self
        request.compresses = compresses
        return request
    }
}

/// Decides which subscriptions of a client a stream reads. It is asked under the lock of the hub.
package protocol SubscriptionFilter: Sendable {
    /// Whether a stream reads a subscription as one of a client.
    func covers(_ properties: SubscriptionProperties, of client: ClientID) -> Bool
}

extension StreamRequest {
    /// Whether the stream reads a subscription as one of a client.
    package func admits(_ properties: SubscriptionProperties?, of client: ClientID) -> Bool {
        guard let filter, let properties else { return true }
        return filter.covers(properties, of: client)
    }
}

/// A source of a stream's events.
package enum StreamSource: Hashable, Sendable {
    /// The events of one subscription, and the `status` and `server-error` of the client that carries it.
    case subscription(SubscriptionID)
    /// A client's own events; with subscriptions, in order also those of its present and future subscriptions.
    case client(ClientID, withSubscriptions: Bool)

    /// The topic that the source is about.
    package var topic: TopicID {
        switch self {
        case .subscription(let id): .subscription(id)
        case .client(let id, _): .client(id)
        }
    }

    /// The id of the subscription or client.
    package var id: String {
        switch self {
        case .subscription(let id): id.rawValue
        case .client(let id, _): id.rawValue
        }
    }
}
