internal import DemoServer
internal import SessionCore

/// A disturbance of a conversation.
enum Disturbance {
    /// A fault of the connection of the session's stream.
    case link(SimulatedLink.Fault)
    /// The next connections cannot be opened.
    case refusal(count: Int)
    /// The next connection delays bytes by this time.
    case slowOpening(Duration)
    /// A fault of the server.
    case server([Fault])
    /// An action of the user.
    case user(UserAction)

    /// An action of the user during a conversation.
    enum UserAction {
        /// Restricts the client to another transport; nil: to none.
        case force(ForcedTransport?)
        /// Ends the session.
        case disconnect
        /// Connects.
        case connect
        /// Unsubscribes and subscribes all subscriptions.
        case resubscribe
        /// Changes the frequency limit of all subscriptions.
        case limitFrequency(RequestedMaxFrequency)
    }
}
