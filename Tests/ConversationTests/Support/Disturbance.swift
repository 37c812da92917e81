internal import DemoServer
internal import SessionCore

/// Something that disturbs a conversation.
enum Disturbance {
    /// Something goes wrong with the connection that the session's stream runs on.
    case link(SimulatedLink.Fault)
    /// The next connections cannot be opened.
    case refusal(count: Int)
    /// The next connection holds back for so long what is sent on it.
    case slowOpening(Duration)
    /// The server misbehaves.
    case server([Fault])
    /// The user does something.
    case user(UserAction)

    /// What a user may do in the middle of a conversation.
    enum UserAction {
        /// Keeps the client to another transport; nil: to none.
        case force(ForcedTransport?)
        /// Ends the session.
        case disconnect
        /// Asks for a session.
        case connect
        /// Ends all subscriptions and begins them again.
        case resubscribe
        /// Changes the frequency limit of all subscriptions.
        case limitFrequency(RequestedMaxFrequency)
    }
}
