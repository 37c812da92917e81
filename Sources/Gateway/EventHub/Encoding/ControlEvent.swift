package import Changes
internal import JSONText
internal import SessionCore

/// The present state of a source, as the `stream` event reports it.
enum SourceState: Sendable, Equatable {
    /// A client's status, and why it has no connection.
    case client(id: ClientID, status: ClientStatus, failure: LastFailure? = nil)
    /// A subscription's state, and the status of the client that carries it.
    case subscription(SubscriptionSourceState)
}

struct SubscriptionSourceState: Sendable, Equatable {
    let id: SubscriptionID
    /// The mode of the subscription, which chooses the table of a reader that named a feed; nil: it is not known.
    let mode: SubscriptionMode?
    /// The client that carries it; nil: none.
    let client: ClientID?
    /// The status of that client; nil without one.
    let status: ClientStatus?
    /// Why that client has no connection; nil while it has one.
    var failure: LastFailure?
    let isActive: Bool
    /// Why the server last refused or removed it; nil since it was activated or confirmed.
    let lastError: UpstreamRefusal?
    /// The facts of the server's confirmation; nil while the subscription is not subscribed.
    var shape: SubscribedShape?

    var isSubscribed: Bool { shape != nil }
}

/// The facts about a subscription that the server has sent with its confirmation and later.
struct SubscribedShape: Sendable, Equatable {
    let itemCount: Int
    /// The number of fields of the first level.
    let fieldCount: Int
    /// COMMAND only: the 1-based position of the key field.
    let keyPosition: Int?
    /// COMMAND only: the 1-based position of the command field.
    let commandPosition: Int?
    /// Whether the keys of fields in events are names; else positions.
    let usesNames: Bool
    /// The frequency limit in force; nil if it is not known.
    let realMaxFrequency: RealMaxFrequency?
}

extension SubscribedShape {
    /// The shape of a subscription with these values; nil while it is not subscribed.
    init?(of table: ValueTable, _ context: TopicContext) {
        guard table.isSubscribed, let itemCount = table.itemCount, let fieldCount = table.fieldCount else { return nil }
        self.init(
            itemCount: itemCount,
            fieldCount: fieldCount,
            keyPosition: table.keyPosition,
            commandPosition: table.commandPosition,
            usesNames: context.naming?.usesNames ?? true,
            realMaxFrequency: table.realMaxFrequency
        )
    }
}

/// An event of the gateway itself. It has no id.
enum ControlEvent: Sendable, Equatable {
    /// The id and the sources of the stream; the first one also has the time to wait before a reconnect. `isDegraded`:
    /// the process is cut off from its cluster.
    case stream(
        id: String,
        sources: [SourceState],
        resume: ResumeOutcome,
        isDegraded: Bool = false,
        retryMilliseconds: Int?
    )
    case closing(reason: String, retryMilliseconds: Int)
    /// A keep-alive for idle connections.
    case heartbeat
}

/// A `closing` event as the whole content of a stream that cannot be opened.
package enum ClosingEvent {
    /// The bytes of the event; `retryMilliseconds`: the time that the client waits before it reconnects.
    package static func bytes(reason: String, retryMilliseconds: Int, as format: EventFormat) -> [UInt8] {
        var encoder = EventEncoder(epoch: "")
        encoder.encode(.closing(reason: reason, retryMilliseconds: retryMilliseconds), as: format)
        return encoder.json.bytes
    }
}
