/// What the subscription store asks of the session machine; carried out in the order of the list.
package enum SubscriptionEffect: Sendable, Equatable {
    /// Tell the user of a subscription.
    case notify(SubscriptionToken, SubscriptionEvent)
    /// There is something to send: call `takePendingRequests` as soon as a control channel is free. It stands before
    /// the event that must not be dispatched earlier than the request leaves.
    case requestsWaiting
    /// The server broke the protocol: the session is to be closed with error 61 and this text.
    case protocolViolation(String)
}
