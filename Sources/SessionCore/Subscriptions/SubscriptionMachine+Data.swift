internal import TLCP

extension SubscriptionMachine {
    /// What a decoded row is for.
    enum RowOutcome: Sendable, Equatable {
        /// Hand it to the user; in COMMAND mode with what it did to the row's key.
        case deliver(SubscriptionToken, ItemUpdate, CommandTable.Step?)
        /// It is a second-level row: compose it with the first level.
        case compose(first: SubscriptionID, item: Int, key: String, DecodedRow)
    }

    /// `U`. Nil: nobody is interested.
    mutating func rowReceived(item: Int, fields: FieldList) throws(ProtocolViolation) -> RowOutcome? {
        guard case .subscribed = stage else { return nil }
        guard let row = try data?.decode(item: item, fields: fields) else { return nil }
        switch role {
        case .user(let token):
            guard let (update, step) = try data?.deliver(row, item: item) else { return nil }
            return .deliver(token, update, step)
        case .secondLevel(let first, let item, let key):
            return .compose(first: first, item: item, key: key, row)
        case .zombie:
            return nil
        }
    }

    /// `EOS`; the event, or nil if nobody is to be told.
    mutating func snapshotEnded(item: Int) throws(ProtocolViolation) -> SubscriptionEvent? {
        guard case .subscribed = stage, case .user = role else { return nil }
        try data?.snapshotEnded(item: item)
        return .endOfSnapshot(itemPos: item)
    }

    /// `CS`; the event and the second-level subscriptions to be removed, or nil if nobody is to be told.
    mutating func snapshotCleared(
        item: Int
    ) throws(ProtocolViolation) -> (event: SubscriptionEvent, secondLevels: [SubscriptionID])? {
        guard case .subscribed = stage, case .user = role else { return nil }
        return (.clearSnapshot(itemPos: item), try data?.snapshotCleared(item: item) ?? [])
    }

    /// `OV`; the event, or nil if nobody is to be told.
    mutating func updatesLost(item: Int, count: Int) throws(ProtocolViolation) -> SubscriptionEvent? {
        guard case .subscribed = stage else { return nil }
        try data?.checkItem(item, tag: "OV")
        switch role {
        case .user: return .lostUpdates(count: count, itemPos: item)
        case .secondLevel(_, _, let key): return .secondLevelLostUpdates(count: count, key: key)
        case .zombie: return nil
        }
    }

    /// `CONF` of a user's subscription; the event, or nil if there is nothing to tell.
    mutating func frequencyTold(_ frequency: RealMaxFrequency) -> SubscriptionEvent? {
        guard case .subscribed = stage else { return nil }
        guard isTwoLevel else { return .realMaxFrequency(frequency) }
        data?.frequencies.firstLevelTold(frequency)
        return frequencyNews()
    }

    /// The aggregate frequency of both levels, if it changed since it was told.
    mutating func frequencyNews() -> SubscriptionEvent? {
        guard let news = data?.frequencies.news() else { return nil }
        return .realMaxFrequency(news)
    }
}
