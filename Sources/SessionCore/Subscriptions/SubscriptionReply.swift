/// What the answer to a request means for its subscription.
enum SubscriptionReply: Sendable, Equatable {
    /// Nothing that anybody has to know.
    case nothing
    /// Another request is due.
    case requestDue
    /// The subscription was refused: tell, and forget it.
    case failed(code: Int, message: String)
    /// The subscription is gone: forget it.
    case finished
}
