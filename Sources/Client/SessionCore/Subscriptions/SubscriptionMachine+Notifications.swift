internal import TLCP

extension SubscriptionMachine {
    /// The arguments of `SUBOK` and `SUBCMD`.
    struct Announcement: Sendable, Equatable {
        var itemCount: Int
        var fieldCount: Int
        /// `SUBCMD` only.
        var positions: CommandPositions?
    }

    /// The 1-based positions of the key and command fields.
    struct CommandPositions: Sendable, Equatable {
        var key: Int
        var command: Int
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

    /// `SUBOK` or `SUBCMD`.
    mutating func announced(_ announcement: Announcement) throws(ProtocolViolation) -> Activation {
        guard let properties else { return .ignored }
        switch stage {
        case .subscribed, .deleting: return .ignored
        case .adding, .acknowledged: break
        }
        try check(announcement, properties)
        if let message = properties.mismatch(with: announcement) {
            stage = .deleting(.due)
            return .mismatched(message: message)
        }
        if let positions = announcement.positions { try check(positions, among: announcement.fieldCount) }
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

    private func check(_ announcement: Announcement, _ properties: SubscriptionProperties) throws(ProtocolViolation) {
        guard (properties.mode == .command) == (announcement.positions != nil) else {
            let tag = announcement.positions == nil ? "SUBOK" : "SUBCMD"
            throw ProtocolViolation(reason: "\(tag) for a subscription in \(properties.mode.rawValue) mode")
        }
        guard announcement.itemCount >= 0, announcement.fieldCount >= 0 else {
            throw ProtocolViolation(
                reason: "Negative size: \(announcement.itemCount) items, \(announcement.fieldCount) fields"
            )
        }
    }

    private func check(_ positions: CommandPositions, among fieldCount: Int) throws(ProtocolViolation) {
        guard positions.key >= 1, positions.key <= fieldCount, positions.command >= 1, positions.command <= fieldCount,
            positions.key != positions.command
        else {
            throw ProtocolViolation(
                reason: "Key position \(positions.key) and command position \(positions.command) "
                    + "among \(fieldCount) fields"
            )
        }
    }
}

extension SubscriptionProperties {
    /// The properties of the second-level subscription of a key. `frequency` is the first level's present one.
    func secondLevel(of key: String, frequency: RequestedMaxFrequency?) -> SubscriptionProperties? {
        guard let secondLevelFields else { return nil }
        var properties = SubscriptionProperties(mode: .merge, items: .list([key]), fields: secondLevelFields)
        properties.dataAdapter = secondLevelDataAdapter
        properties.requestedMaxFrequency = frequency
        return properties
    }

    /// The reason why the announced counts are refused: too large, or not those of the lists; nil if they are accepted.
    fileprivate func mismatch(with announcement: SubscriptionMachine.Announcement) -> String? {
        guard SubscriptionLimits.admit(itemCount: announcement.itemCount, fieldCount: announcement.fieldCount) else {
            return "Too large: \(announcement.itemCount) items with \(announcement.fieldCount) fields"
        }
        if let count = items.names?.count, count != announcement.itemCount {
            return "Expected \(count) items but got \(announcement.itemCount)"
        }
        if let count = fields.names?.count, count != announcement.fieldCount {
            return "Expected \(count) fields but got \(announcement.fieldCount)"
        }
        return nil
    }
}

extension SubscriptionLayout {
    /// The layout of the updates of a subscription, from the counts and positions that the server has confirmed.
    package convenience init(
        _ properties: SubscriptionProperties,
        fieldCount: Int,
        keyPosition: Int?,
        commandPosition: Int?
    ) {
        self.init(
            itemNames: properties.items.names,
            fieldNames: properties.fields.names,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition,
            secondLevelFieldNames: properties.secondLevelFields?.names,
            hasSecondLevel: properties.secondLevelFields != nil
        )
    }
}

extension SubscriptionMachine {
    /// The use of a decoded row.
    enum RowOutcome: Sendable, Equatable {
        /// Deliver it to the user, in COMMAND mode with the change of its key.
        case deliver(SubscriptionToken, ItemUpdate, CommandTable.Step?)
        /// A second-level row: compose the update with the first level.
        case compose(first: SubscriptionID, item: Int, key: String, ItemUpdate)
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
}
