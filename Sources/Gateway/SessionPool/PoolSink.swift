package import Changes
package import JSONText
package import Primitives
package import SessionCore

/// Receives the changes of the pool's clients and subscriptions.
///
/// Calls about one client, its subscriptions and its messages come one at a time, in the order in which they
/// happened. They come on the client's own task: an implementation must be quick and must not wait.
package protocol PoolSink: ChangeSink {
    /// Takes an event of a shared subscription that comes from the data notification of this number, in a session that
    /// another process can continue.
    func take(_ change: Change, number: UInt64)
    /// Takes a change of the sessions that other processes can continue.
    func take(_ change: SessionChange)
    /// Whether the sessions that other processes can continue still belong to this one.
    var ownsSessions: Bool { get }
    /// When the last stream of this process that carried a subscription ceased to carry the subscription: `Moment.never` while
    /// a stream does; nil if no stream has.
    func lastRead(subscription id: SubscriptionID) -> Moment?
    /// Calls back, now or later, with when the last streams of any process that carried clients and subscriptions ceased to carry
    /// them: `Moment.never` while a stream does, and where the streams of a process are not known. Without an entry for a topic
    /// that no stream has carried.
    func lastReads(of topics: [TopicID], _ done: @escaping @Sendable ([TopicID: Moment]) -> Void)
    /// The value of a connection property as REST shows it; nil for a property that is never shown.
    func shownValue(of property: String, on client: PooledClient) -> JSONValue?
    /// Why a client has no connection; nil while it has one, and before its first failure.
    func lastFailure(of client: PooledClient) -> LastFailure?
}

/// A change of the sessions that other processes can continue.
package enum SessionChange: Sendable, Equatable {
    /// Another process can continue the present session of a client; nil: not, or no longer.
    case offered(OfferedSession?, of: ClientID)
    /// The `LS_subId` of a subscription in the session of its client; followed by `subscribed`.
    case numbered(SubscriptionID, UInt64)
}
