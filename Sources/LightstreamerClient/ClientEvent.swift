public import SessionCore

/// One event of a client, of one of its subscriptions or of one of its messages. All events of a client have one order.
public enum ClientEvent: Sendable {
    /// The status is this from now on.
    case status(ClientStatus)
    /// The server refused or closed the session; always after `DISCONNECTED`.
    case serverError(code: Int, message: String)
    /// A property (today's name) has another value, set by the user or by the server.
    case property(String)
    /// Something happened to a subscription.
    case subscription(Subscription, SubscriptionEvent)
    /// A message that asked for its outcome has it.
    case message(MessageToken, text: String, MessageOutcome)
    /// Something that only legacy listeners are told.
    case legacy(LegacyEvent)
    /// This many bytes came from the server: one event for each batch of reads, before decoding.
    case bytesReceived(Int)
}

/// Sees all events of a client, synchronously, on the task that delivers them, after the state that they tell of.
/// Delegates are told the same event afterwards.
package protocol ClientObserver: AnyObject, Sendable {
    /// Something happened. Must be quick and must not wait.
    func client(_ client: LightstreamerClient, emitted event: ClientEvent)
}
