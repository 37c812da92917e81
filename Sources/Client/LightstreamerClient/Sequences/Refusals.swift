internal import SessionCore

/// The server refused or removed a subscription, which is no longer active.
public struct SubscriptionRefused: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of `didFailWithErrorCode`; 61 for a removal, which has no code in the protocol.
    public let code: Int
    /// The server's message.
    public let message: String

    /// A refusal.
    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    /// The refusal that an event reports; nil for an event that reports none.
    init?(_ event: SubscriptionEvent) {
        guard let refusal = UpstreamRefusal(event) else { return nil }
        self.init(code: refusal.code, message: refusal.message)
    }

    /// The code and the message.
    public var description: String { "the server refused the subscription with code \(code): \(message)" }
}

/// The server refused a session or closed it for good: the client is disconnected and makes no further attempt until
/// `connect()`.
public struct SessionRefused: Error, Sendable, Hashable, CustomStringConvertible {
    /// The code of `didReceiveServerError`.
    public let code: Int
    /// The server's message.
    public let message: String

    /// A refusal.
    public init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the message.
    public var description: String { "the server refused the session with code \(code): \(message)" }
}

/// Why no further event of a subscription follows, or none until the application acts; not reported by an event.
package enum SubscriptionStop: Sendable, Equatable {
    case unsubscribed
    /// The server refused or closed the session of the client, which makes no further attempt.
    case sessionRefused(SessionRefused)
    case disconnected
    /// The client was shut down or released.
    case shutDown

    /// The error for a call that waits for the subscription or for the session.
    var error: any Error {
        switch self {
        case .unsubscribed: ClientError(.lifecycle, rule: "The Subscription is not active")
        case .sessionRefused(let refusal): refusal
        case .disconnected: ClientError(.lifecycle, rule: "The client was disconnected")
        case .shutDown: ClientCore.shutDownError
        }
    }
}
