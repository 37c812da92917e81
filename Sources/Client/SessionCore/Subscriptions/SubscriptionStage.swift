internal import TLCP

/// The progress of the request of a stage.
enum RequestProgress: Sendable, Equatable {
    /// To be written as soon as there is a channel. *Leaves to* `sent`.
    case due
    /// Written under this identifier, not answered. *Leaves to* `due` when the channel is lost.
    case sent(RequestID)
}

/// The stage of a subscription.
enum SubscriptionStage: Sendable, Equatable {
    /// The add is not answered. *Entered* at the start, and at the end of a session by `acknowledged` and `subscribed`;
    /// *leaves to* `acknowledged` by `REQOK`, `subscribed` by `SUBOK`/`SUBCMD`, `deleting` when the counts are wrong.
    case adding(RequestProgress)
    /// The add is acknowledged. *Entered* by `REQOK`; *leaves to* `subscribed`, `deleting`, `adding`.
    case acknowledged
    /// Data flow; the request, if there is one, is a reconf. *Entered* by `SUBOK`/`SUBCMD`; *leaves to* `deleting` by
    /// `unsubscribe`, to `adding` at the end of the session.
    case subscribed(RequestProgress?)
    /// The delete is not answered. *Leaves* by the removal of the machine.
    case deleting(RequestProgress)

    /// The progress of the request; nil: none is needed.
    var request: RequestProgress? {
        switch self {
        case .adding(let progress), .deleting(let progress): progress
        case .subscribed(let progress): progress
        case .acknowledged: nil
        }
    }

    /// The same stage with another progress of its request; a stage without a request stays as it is.
    func with(_ progress: RequestProgress) -> SubscriptionStage {
        switch self {
        case .adding: .adding(progress)
        case .deleting: .deleting(progress)
        case .subscribed(.some): .subscribed(progress)
        case .subscribed(nil), .acknowledged: self
        }
    }
}

/// The consequence of an answer for its subscription.
enum SubscriptionReply: Sendable, Equatable {
    /// None.
    case nothing
    /// Another request is due.
    case requestDue
    /// The subscription was refused: emit the event and remove the machine.
    case failed(code: Int, message: String)
    /// The subscription was deleted: remove the machine.
    case finished
}
