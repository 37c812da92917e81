internal import SessionCore
internal import TLCP
internal import TLCPTransports

enum DriverInput: Sendable {
    case connect
    /// A call that waits needs a session. The first closure tells whether the call still waits, the second one ends the call if
    /// no attempt can begin.
    case connectIfDisconnected(@Sendable () -> Bool, @Sendable (ClientError) -> Void)
    case disconnect
    /// `adopt(…)`; the subscriptions are active already.
    case adopt(OfferedSession, [AdoptedSubscription], [(Subscription, SubscriptionToken)])
    case abandon
    /// `subscribe(_:)`; the subscription is active already.
    case subscribe(Subscription, SubscriptionToken, SubscriptionProperties)
    /// `unsubscribe(_:)`; the subscription is inactive already.
    case unsubscribe(SubscriptionToken)
    /// `requestedMaxFrequency` of an active subscription.
    case changeMaxFrequency(SubscriptionToken, RequestedMaxFrequency?)
    case sendMessage(OutgoingMessage)
    /// The user set these options; the values contain them.
    case optionsChanged([ConnectionOption], ConnectionOptionValues)
    /// The user set the detail of this name; the values and the certificate pins contain it.
    case detailsChanged(String, ConnectionDetailValues, pins: [String])
    /// A device token for push notifications, with the token that it replaces, if any.
    case deviceTokenChanged(MPNRegisterRequest)
    /// `applicationMPNBadgeReset`.
    case badgeReset
    /// A closure to be called in the order of events.
    case perform(@Sendable (EventDelivery) -> Void)
    case transport(ConnectionID, TransportEvent)
    /// An authentication challenge waits for the answer of a delegate.
    case challengeStarted(ObjectIdentifier)
    /// An authentication challenge was answered.
    case challengeEnded(ObjectIdentifier)
    case timerFired(SessionTimer)
    /// The client is released or shut down: the last input.
    case shutDown
}

/// Called once with the outcome of a message, on the driver's task; nil if the server has a copy of the message already.
typealias MessageOutcomeHandler = @Sendable (LightstreamerClient, MessageOutcome?) -> Void

struct OutgoingMessage: Sendable {
    let pending: PendingMessage
    let onOutcome: MessageOutcomeHandler?
    let enqueueWhileDisconnected: Bool
    /// What the sender wants to be kept until the message is finished; the client does not use it.
    let retained: (any Sendable)?
}
