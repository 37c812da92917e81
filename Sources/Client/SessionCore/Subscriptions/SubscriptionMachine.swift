internal import TLCP

/// One `subscribe` call, one second-level subscription, or one subscription unknown to the client.
///
/// A plain value, so that a dictionary can hold thousands; its only owner is the store, which is not copyable.
struct SubscriptionMachine: Sendable {
    enum Role: Sendable, Equatable {
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

    /// The consequence of an announcement.
    enum Activation: Sendable, Equatable {
        /// None: it is a repetition, or the subscription is being removed.
        case ignored
        /// Data will follow. `reconfDue`: the frequency was changed since the add was written.
        case subscribed(SubscriptionEvent, reconfDue: Bool)
        /// The counts are too large, or not those of the lists; a delete is due.
        case mismatched(message: String)
    }

    /// The use of a decoded row.
    enum RowOutcome: Sendable, Equatable {
        /// Deliver it to the user, in COMMAND mode with the change of its key.
        case deliver(SubscriptionToken, ItemUpdate, CommandTable.Step?)
        /// A second-level row: compose the update with the first level.
        case compose(first: SubscriptionID, item: Int, key: String, ItemUpdate)
    }

    let id: SubscriptionID
    let role: Role
    /// The requested properties; nil for a zombie.
    let properties: SubscriptionProperties?
    var stage: SubscriptionStage
    var frequency: FrequencyNegotiation
    var data: SubscriptionData?

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
        var announcement = SubscriptionAnnouncement(itemCount: itemCount, fieldCount: fieldCount)
        if let key = adopted.table.keyPosition, let command = adopted.table.commandPosition {
            announcement.positions = .init(key: key, command: command)
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
        guard let first = properties, let fields = first.secondLevelFields else { return nil }
        var properties = SubscriptionProperties(mode: .merge, items: .list([key]), fields: fields)
        properties.dataAdapter = first.secondLevelDataAdapter
        properties.requestedMaxFrequency = frequency.requested
        return properties
    }

    // MARK: - Commands

    mutating func remove() -> Removal {
        defer { data = nil }
        switch stage {
        case .adding: return .forgotten
        case .acknowledged:
            stage = .deleting(.due)
            return .deleting(wasSubscribed: false)
        case .subscribed:
            stage = .deleting(.due)
            return .deleting(wasSubscribed: true)
        case .deleting: return .none
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
        guard case .adding = stage else { return answered(isAccepted: true) }
        stage = .acknowledged
        return .nothing
    }

    /// `REQERR` to the request under way.
    mutating func refused(code: Int, message: String) -> SubscriptionReply {
        guard case .adding = stage else { return answered(isAccepted: false) }
        return .failed(code: code, message: message)
    }

    private mutating func answered(isAccepted: Bool) -> SubscriptionReply {
        switch stage {
        case .adding, .acknowledged: return .nothing
        case .subscribed:
            stage = .subscribed(frequency.reconfAnswered(isAccepted: isAccepted) ? .due : nil)
            return stage.request == nil ? .nothing : .requestDue
        case .deleting: return .finished
        }
    }

    // MARK: - Lines

    /// `SUBOK` or `SUBCMD`.
    mutating func announced(_ announcement: SubscriptionAnnouncement) throws(ProtocolViolation) -> Activation {
        guard let properties else { return .ignored }
        switch stage {
        case .subscribed, .deleting: return .ignored
        case .adding, .acknowledged: break
        }
        try announcement.check(for: properties.mode)
        if let message = announcement.mismatch(with: properties) {
            stage = .deleting(.due)
            return .mismatched(message: message)
        }
        try announcement.checkPositions()
        stage = .subscribed(frequency.differs ? .due : nil)
        data = SubscriptionData(properties, announcement)
        let event = SubscriptionEvent.subscribed(
            itemCount: announcement.itemCount,
            fieldCount: announcement.fieldCount,
            keyPosition: announcement.positions?.key,
            commandPosition: announcement.positions?.command
        )
        return .subscribed(event, reconfDue: frequency.differs)
    }

    /// `U`. Nil: the row is not needed.
    mutating func rowReceived(item: Int, fields: FieldList) throws(ProtocolViolation) -> RowOutcome? {
        guard case .subscribed = stage else { return nil }
        guard let row = try data?.decode(item: item, fields: fields) else { return nil }
        switch role {
        case .user(let token):
            if properties?.mode != .command { return .deliver(token, row, nil) }
            guard let (update, step) = try data?.deliver(row) else { return nil }
            return .deliver(token, update, step)
        case .secondLevel(let first, let item, let key):
            return .compose(first: first, item: item, key: key, row)
        case .zombie:
            return nil
        }
    }

    /// `EOS`; the event, or nil if there is none to deliver.
    mutating func snapshotEnded(item: Int) throws(ProtocolViolation) -> SubscriptionEvent? {
        guard case .subscribed = stage, case .user = role else { return nil }
        try data?.snapshotEnded(item: item)
        return .endOfSnapshot(itemPos: item)
    }

    /// `CS`; the event and the second-level subscriptions to be removed, or nil if there is no event to deliver.
    mutating func snapshotCleared(
        item: Int
    ) throws(ProtocolViolation) -> (event: SubscriptionEvent, secondLevels: [SubscriptionID])? {
        guard case .subscribed = stage, case .user = role else { return nil }
        return (.clearSnapshot(itemPos: item), try data?.snapshotCleared(item: item) ?? [])
    }

    /// `OV`; the event, or nil if there is none to deliver.
    mutating func updatesLost(item: Int, count: Int) throws(ProtocolViolation) -> SubscriptionEvent? {
        guard case .subscribed = stage else { return nil }
        try data?.checkItem(item, tag: "OV")
        switch role {
        case .user: return .lostUpdates(count: count, itemPos: item)
        case .secondLevel(_, _, let key): return .secondLevelLostUpdates(count: count, key: key)
        case .zombie: return nil
        }
    }

    /// `CONF` of a user's subscription; the event, or nil if there is none to deliver.
    mutating func realFrequencyReceived(_ frequency: RealMaxFrequency) -> SubscriptionEvent? {
        guard case .subscribed = stage else { return nil }
        guard isTwoLevel else { return .realMaxFrequency(frequency) }
        data?.frequencies?.firstLevelReceived(frequency)
        return changedFrequency()
    }

    /// The aggregate frequency of both levels, if it changed since the last event.
    mutating func changedFrequency() -> SubscriptionEvent? {
        guard let news = data?.frequencies?.news() else { return nil }
        return .realMaxFrequency(news)
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

enum RequestProgress: Sendable, Equatable {
    /// To be written as soon as there is a channel. *Leaves to* `sent`.
    case due
    /// Written under this identifier, not answered. *Leaves to* `due` when the channel is lost.
    case sent(RequestID)
}

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
    case nothing
    case requestDue
    /// The subscription was refused: emit the event and remove the machine.
    case failed(code: Int, message: String)
    /// The subscription was deleted: remove the machine.
    case finished
}
