public import SessionCore

/// One event of a client, of one of its subscriptions or of one of its messages. All events of a client have one order.
public enum ClientEvent: Sendable {
    /// The status has changed.
    case status(ClientStatus)
    /// The server refused or closed the session; always after `DISCONNECTED`.
    case serverError(code: Int, message: String)
    /// A property changed, by the user or by the server; the name is that of the newest edition.
    case property(String)
    /// An event of a subscription.
    case subscription(Subscription, SubscriptionEvent)
    /// The outcome of a message that requested it.
    case message(MessageToken, text: String, MessageOutcome)
    /// An event for legacy listeners only.
    case legacy(LegacyEvent)
    /// The number of bytes received: one event for each batch of reads, before decoding.
    case bytesReceived(Int)
}

/// Receives every event of a client synchronously, on the driver's task, after the state that getters read has changed.
/// Observers are called in the order in which they were added; delegates, legacy listeners and event sequences are
/// adapters of this protocol.
package protocol ClientObserver: AnyObject {
    /// Whether the observer receives the events of subscriptions as well, of which there may be hundreds of thousands a second.
    var observesSubscriptions: Bool { get }

    /// How long bytes are summed up at most before an event reports them; zero: one event for each batch of reads.
    var bytesInterval: Duration { get }

    /// Called once for each event. Must return quickly and must not block.
    func client(_ client: LightstreamerClient, emitted event: ClientEvent)
}

extension ClientObserver {
    package var observesSubscriptions: Bool { false }

    package var bytesInterval: Duration { .zero }
}

/// Receives every event of one subscription synchronously, on the driver's task of the client that the subscription is
/// active on, after the client's observers. Delegates and event sequences are adapters of this protocol.
package protocol SubscriptionObserver: AnyObject, Sendable {
    /// Called once for each event. Must return quickly and must not block.
    func subscription(_ subscription: Subscription, emitted event: SubscriptionEvent)

    /// Called when no further event follows, or none until the application acts, and no event says so. Must return quickly
    /// and must not block.
    func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop)
}

extension SubscriptionObserver {
    package func subscription(_ subscription: Subscription, stopped cause: SubscriptionStop) {}
}

/// Totals of a client since it was created.
public struct ClientCounters: Sendable, Hashable {
    /// Bytes received, before decoding.
    public var bytesReceived: UInt64 = 0
    /// Lines received.
    public var linesReceived: UInt64 = 0
    /// Updates delivered.
    public var updates: UInt64 = 0
    /// Sessions opened.
    public var sessions: UInt64 = 0
    /// Connections that failed and that the client replaced by itself.
    public var connectionFailures: UInt64 = 0
    /// Changes of status to `DISCONNECTED:WILL-RETRY` or `DISCONNECTED:TRYING-RECOVERY`.
    public var reconnects: UInt64 = 0
    /// Server errors received.
    public var serverErrors: UInt64 = 0
    /// Messages accepted by `sendMessage`.
    public var messages: UInt64 = 0

    /// All zero.
    public init() {}
}
