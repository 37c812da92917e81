package import SessionCore

/// One change of a client or of a subscription. A change appends at most one event to a log, and its application involves
/// no decision: hubs that apply the same changes have the same topics.
package enum Change: Sendable, Equatable {
    /// A change of a client.
    case client(ClientID, ClientChange)
    /// A change of a subscription resource.
    case subscription(SubscriptionID, SubscriptionChange)

    /// The client or subscription that changes.
    package var topic: TopicID {
        switch self {
        case .client(let id, _): .client(id)
        case .subscription(let id, _): .subscription(id)
        }
    }
}

/// A change with its index among the changes at one position.
package struct NumberedChange: Sendable, Equatable {
    /// The index; at most `EventNumber.lastIndex`. It rises from change to change.
    package let index: UInt16
    /// The change.
    package let change: Change

    /// A change with its index.
    package init(index: UInt16, change: Change) {
        self.index = index
        self.change = change
    }
}

/// Receives the changes of this process's clients and subscriptions: the hub, or the component that orders the
/// changes of several processes.
///
/// Calls about one topic come one at a time, in the order of its changes. They must return quickly and must not block.
package protocol ChangeSink: Sendable {
    /// Takes one change.
    func take(_ change: Change)
    /// Takes changes that belong together: no stream joins between them.
    func take(_ changes: [Change])
    /// Takes an event of a subscription. Returns a call that has it delivered; nil: it is delivered anyway. The caller
    /// makes the call soon, and without a lock: it may write to the sockets of readers.
    func publish(_ event: SubscriptionEvent, of subscription: SubscriptionID) -> (@Sendable () -> Void)?
}

extension ChangeSink {
    /// Takes the event as a change.
    package func publish(_ event: SubscriptionEvent, of subscription: SubscriptionID) -> (@Sendable () -> Void)? {
        take(.subscription(subscription, .event(event)))
        return nil
    }
}
