internal import TLCP

/// How far the request that a stage calls for has come.
enum RequestProgress: Sendable, Equatable {
    /// To be written as soon as there is a channel. *Leaves to* `sent`.
    case due
    /// Written under this identifier, not answered. *Leaves to* `due` when the channel is lost.
    case sent(RequestID)
}

/// Where one `subscribe` call, or one subscription that only the server knows of, stands.
enum SubscriptionStage: Sendable, Equatable {
    /// The add is not answered. *Entered* at the start, and at the end of a session by `acknowledged` and `subscribed`;
    /// *leaves to* `acknowledged` by `REQOK`, `subscribed` by `SUBOK`/`SUBCMD`, `deleting` when the counts are wrong.
    case adding(RequestProgress)
    /// The add is acknowledged. *Entered* by `REQOK`; *leaves to* `subscribed`, `deleting`, `adding`.
    case acknowledged
    /// Data flow. A request is the reconf that is under way. *Entered* by `SUBOK`/`SUBCMD`; *leaves to* `deleting` by
    /// `unsubscribe`, to `adding` at the end of the session.
    case subscribed(RequestProgress?)
    /// The delete is not answered; nobody but the server is interested any more. *Leaves* by being forgotten.
    case deleting(RequestProgress)

    /// How far the request has come; nil: none is called for.
    var request: RequestProgress? {
        switch self {
        case .adding(let progress), .deleting(let progress): progress
        case .subscribed(let progress): progress
        case .acknowledged: nil
        }
    }

    /// The same stage with its request at another point; a stage without a request stays as it is.
    func with(_ progress: RequestProgress) -> SubscriptionStage {
        switch self {
        case .adding: .adding(progress)
        case .deleting: .deleting(progress)
        case .subscribed(.some): .subscribed(progress)
        case .subscribed(nil), .acknowledged: self
        }
    }
}
