/// Why a server refused or removed something.
package struct UpstreamRefusal: Sendable, Equatable {
    /// The code of a removal, for which the protocol has none: "error in the interpretation of a server response" in the
    /// class reference, as for a removal before the subscription was active.
    package static let removalCode = 61

    /// The code, as the class reference lists them.
    package let code: Int
    /// The server's message.
    package let message: String

    /// A refusal.
    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    /// The refusal that an event reports; nil for an event that reports none. A final `unsubscribed` is a removal by the
    /// server.
    package init?(_ event: SubscriptionEvent) {
        switch event {
        case .failed(let code, let message): self.init(code: code, message: message)
        case .unsubscribed(isFinal: true): self.init(code: Self.removalCode, message: "Removed by the server")
        default: return nil
        }
    }
}
