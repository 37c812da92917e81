internal import TLCP

/// One `subscribe` call, one second-level subscription, or one subscription unknown to the client.
///
/// A plain value, so that a dictionary can hold thousands; its only owner is the store, which is not copyable.
struct SubscriptionMachine: Sendable {
    /// The origin of the subscription.
    enum Role: Sendable, Equatable {
        /// The user.
        case user(SubscriptionToken)
        /// A key of a two-level subscription.
        case secondLevel(of: SubscriptionID, item: Int, key: String)
        /// The server sends data for a subscription unknown to the client; a delete will end it.
        case zombie
    }

    /// The consequence of the removal of a machine.
    enum Removal: Sendable, Equatable {
        /// The subscription was already being removed.
        case none
        /// Nothing has to be sent; the machine is removed at once.
        case forgotten
        /// A delete is due; until it is answered the machine stays.
        case deleting(wasSubscribed: Bool)
    }

    let id: SubscriptionID
    let role: Role
    /// The requested properties; nil for a zombie.
    let properties: SubscriptionProperties?
    var stage: SubscriptionStage
    var frequency: FrequencyNegotiation
    var data: SubscriptionData?
    /// Second level only: the frequency received last.
    var notifiedFrequency: RealMaxFrequency?

    /// A subscription whose add is due.
    init(_ id: SubscriptionID, role: Role, properties: SubscriptionProperties) {
        self.id = id
        self.role = role
        self.properties = properties
        stage = .adding(.due)
        // A limit has no effect in RAW mode.
        frequency = FrequencyNegotiation(properties.mode == .raw ? nil : properties.requestedMaxFrequency)
    }

    /// A subscription that the server has accepted in a session that is being adopted, with its present values; nil if
    /// they are not those of a subscribed subscription with one level.
    init?(_ adopted: AdoptedSubscription) {
        guard adopted.table.properties.secondLevelFields == nil, let itemCount = adopted.table.itemCount,
            let fieldCount = adopted.table.fieldCount
        else { return nil }
        var announcement = Announcement(itemCount: itemCount, fieldCount: fieldCount)
        if let key = adopted.table.keyPosition, let command = adopted.table.commandPosition {
            announcement.positions = CommandPositions(key: key, command: command)
        }
        let properties = adopted.table.properties
        self.init(SubscriptionID(adopted.number), role: .user(adopted.token), properties: properties)
        stage = .subscribed(nil)
        data = SubscriptionData(properties, announcement, continuing: adopted.table)
    }

    /// A subscription unknown to the client; its delete is due.
    init(zombie id: SubscriptionID) {
        self.id = id
        role = .zombie
        properties = nil
        stage = .deleting(.due)
        frequency = FrequencyNegotiation(nil)
    }

    /// Whether there are two levels and this is the first.
    var isTwoLevel: Bool { properties?.secondLevelFields != nil }

    /// The second-level subscriptions that end with this one.
    var secondLevels: [SubscriptionID] { isTwoLevel ? data?.secondLevels ?? [] : [] }

    /// The properties of the second-level subscription of a key, with the frequency that the user requests now.
    func secondLevelProperties(of key: String) -> SubscriptionProperties? {
        properties?.secondLevel(of: key, frequency: frequency.requested)
    }

    // MARK: - Commands

    /// The subscription is to be removed.
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
        guard properties?.mode != .raw else { return }
        frequency.request(requested)
        switch stage {
        case .subscribed(nil) where frequency.differs: stage = .subscribed(.due)
        case .subscribed(.due) where !frequency.isWorthSending: stage = .subscribed(nil)
        case .adding, .acknowledged, .subscribed, .deleting: break
        }
    }

    // MARK: - Requests

    /// The request that is due; nil if it is no longer needed.
    func pendingRequest(_ id: RequestID, acknowledged: Bool) -> ControlRequest? {
        guard stage.request == .due else { return nil }
        let operation: ControlOperation
        switch stage {
        case .adding:
            guard let properties else { return nil }
            var request = AddRequest(
                subscriptionID: self.id,
                mode: properties.mode,
                group: properties.items.wireName,
                schema: properties.fields.wireName,
                isAcknowledged: acknowledged
            )
            request.dataAdapter = properties.dataAdapter
            request.selector = properties.selector
            request.snapshot = properties.requestedSnapshot
            request.maxFrequency = frequency.current
            request.bufferSize = properties.effectiveBufferSize
            operation = .add(request)
        case .acknowledged:
            return nil
        case .subscribed:
            operation = .reconf(ReconfRequest(subscriptionID: self.id, maxFrequency: frequency.requested))
        case .deleting:
            let cause = role == .zombie ? "zombie" : nil
            operation = .delete(DeleteRequest(subscriptionID: self.id, isAcknowledged: acknowledged, cause: cause))
        }
        return ControlRequest(requestID: id, operation: operation)
    }

    /// The request that is due was written under this identifier.
    mutating func requestWritten(as request: RequestID) {
        if case .subscribed = stage { frequency.reconfWritten() }
        stage = stage.with(.sent(request))
    }

    /// The request that is due cannot be sent: it counts as refused.
    mutating func requestDropped(code: Int, message: String) -> SubscriptionReply {
        if case .subscribed = stage { frequency.reconfWritten() }
        return refused(code: code, message: message)
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

    /// The channel is lost: an unanswered request is due again. Returns whether there was one.
    mutating func channelLost() -> Bool {
        guard case .sent = stage.request else { return false }
        stage = stage.with(.due)
        return true
    }

    /// The session ended. Returns nil if the machine is to be removed; otherwise whether it was subscribed, and its add
    /// is due again.
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
