internal import TLCP

/// One `subscribe` call, one second-level subscription, or one subscription that only the server knows of.
///
/// A plain value, so that a dictionary can hold thousands; its only owner is the store, which is not copyable.
struct SubscriptionMachine: Sendable {
    /// Who asked for the subscription.
    enum Role: Sendable, Equatable {
        /// The user.
        case user(SubscriptionToken)
        /// A key of a two-level subscription.
        case secondLevel(of: SubscriptionID, item: Int, key: String)
        /// Nobody: the server sends data for it, and a delete will stop that.
        case zombie
    }

    /// What becomes of a machine that nobody is interested in any more.
    enum Removal: Sendable, Equatable {
        /// It was already being removed.
        case none
        /// Nothing has to be sent: forget it.
        case forgotten
        /// A delete is due; until it is answered the machine stays.
        case deleting(wasSubscribed: Bool)
    }

    let id: SubscriptionID
    let role: Role
    /// What was asked for; a zombie asked for nothing.
    let properties: SubscriptionProperties?
    var stage: SubscriptionStage
    var frequency: FrequencyNegotiation
    var data: SubscriptionData?
    /// Second level only: the frequency told last.
    var notifiedFrequency: RealMaxFrequency?

    /// A subscription whose add is due.
    init(_ id: SubscriptionID, role: Role, properties: SubscriptionProperties) {
        self.id = id
        self.role = role
        self.properties = properties
        stage = .adding(.due)
        frequency = FrequencyNegotiation(properties.requestedMaxFrequency)
    }

    /// A subscription that only the server knows of; its delete is due.
    init(zombie id: SubscriptionID) {
        self.id = id
        role = .zombie
        properties = nil
        stage = .deleting(.due)
        frequency = FrequencyNegotiation(nil)
    }

    /// Whether there are two levels and this is the first.
    var isTwoLevel: Bool { properties?.secondLevelFields != nil }

    /// The second-level subscriptions that go when this one goes.
    var secondLevels: [SubscriptionID] { isTwoLevel ? data?.secondLevels ?? [] : [] }

    /// What the second level of a key asks for: the frequency is the one that the user asks for now.
    func secondLevelProperties(of key: String) -> SubscriptionProperties? {
        properties?.secondLevel(of: key, frequency: frequency.requested)
    }

    // MARK: - Commands

    /// Nobody is interested any more.
    mutating func remove() -> Removal {
        defer { data = nil }
        switch stage {
        case .adding:
            return .forgotten
        case .acknowledged:
            stage = .deleting(.due)
            return .deleting(wasSubscribed: false)
        case .subscribed:
            stage = .deleting(.due)
            return .deleting(wasSubscribed: true)
        case .deleting:
            return .none
        }
    }

    /// The property `requestedMaxFrequency` was set: a reconf becomes due, or one that was never written is dropped.
    mutating func changeMaxFrequency(_ requested: RequestedMaxFrequency?) {
        frequency.request(requested)
        switch stage {
        case .subscribed(nil) where frequency.differs: stage = .subscribed(.due)
        case .subscribed(.due) where !frequency.isWorthSending: stage = .subscribed(nil)
        case .adding, .acknowledged, .subscribed, .deleting: break
        }
    }

    // MARK: - Answers

    /// `REQOK` to the request under way.
    mutating func accepted() -> SubscriptionReply {
        switch stage {
        case .adding:
            stage = .acknowledged
            return .nothing
        case .acknowledged:
            return .nothing
        case .subscribed:
            stage = .subscribed(frequency.reconfAccepted() ? .due : nil)
            return stage.request == nil ? .nothing : .requestDue
        case .deleting:
            return .finished
        }
    }

    /// `REQERR` to the request under way.
    mutating func refused(code: Int, message: String) -> SubscriptionReply {
        switch stage {
        case .adding:
            return .failed(code: code, message: message)
        case .acknowledged:
            return .nothing
        case .subscribed:
            stage = .subscribed(frequency.reconfRefused() ? .due : nil)
            return stage.request == nil ? .nothing : .requestDue
        case .deleting:
            return .finished
        }
    }

    // MARK: - Ends

    /// The channel is lost: what was not answered is due again. True: something is.
    mutating func channelLost() -> Bool {
        guard case .sent = stage.request else { return false }
        stage = stage.with(.due)
        return true
    }

    /// The session ended. Nil: forget it; else whether it was subscribed. What stays is to be added anew.
    mutating func sessionEnded() -> Bool? {
        guard case .user = role else { return nil }
        defer { data = nil }
        frequency.sessionEnded()
        switch stage {
        case .adding, .acknowledged:
            stage = .adding(.due)
            return false
        case .subscribed:
            stage = .adding(.due)
            return true
        case .deleting:
            return nil
        }
    }
}

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
