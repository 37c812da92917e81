internal import JSONText
internal import TLCP

/// The body of `POST /v1/updates`: an event that a feed publishes now, beside its own ones.
///
///     {"item": "item1", "fields": {"last_price": "99.50"}}
///     {"adapter": "PORTFOLIO_ADAPTER", "item": "portfolio1", "fields": {"key": "item3", "command": "DELETE"}}
///     {"adapter": "CHAT_ROOM", "item": "chat_room", "event": "clear-snapshot"}
///     {"item": "item1", "event": "lost-updates", "count": 3}
///
/// Values are strings or null. Fields that are missing keep the values of the item's, or the key's, present row.
struct InjectedUpdate: Sendable, Hashable {
    /// The change of the item.
    enum Event: Sendable, Hashable {
        /// `update`, or no event: the fields change.
        case update([UpstreamName: String?])
        /// `clear-snapshot`, `lost-updates`, or `end-of-snapshot` for manual feeds that hold their snapshots.
        case request(FeedRequest)
    }

    /// The name of the feed; `DEFAULT` if it is missing.
    let adapter: String
    let item: String
    let event: Event
}

extension InjectedUpdate {
    init(_ body: [UInt8]) throws(InjectionRefusal) {
        guard let value = try? JSONValue(parsing: body), let members = value.object else {
            throw InjectionRefusal("the body must be a JSON object")
        }
        for member in members where !["adapter", "item", "event", "fields", "count"].contains(member.name) {
            throw InjectionRefusal("unknown member: \(member.name)")
        }
        guard let item = value["item"]?.string, !item.isEmpty else { throw InjectionRefusal("item: must be a name") }
        guard let adapter = (value["adapter"] ?? "DEFAULT").string else {
            throw InjectionRefusal("adapter: must be a name")
        }
        let event: Event
        switch (value["event"] ?? "update").string {
        case "update": event = .update(try Self.fields(value["fields"]))
        case "clear-snapshot": event = .request(.clear(item: item))
        case "end-of-snapshot": event = .request(.endSnapshot(item: item))
        case "lost-updates":
            guard let count = value["count"]?.number?.intValue, count > 0 else {
                throw InjectionRefusal("count: must be 1 or more")
            }
            event = .request(.lose(item: item, count: count))
        default: throw InjectionRefusal("event: must be update, clear-snapshot, end-of-snapshot or lost-updates")
        }
        self.init(adapter: adapter, item: item, event: event)
    }

    private static func fields(_ value: JSONValue?) throws(InjectionRefusal) -> [UpstreamName: String?] {
        guard let members = value?.object, !members.isEmpty else {
            throw InjectionRefusal("fields: must be an object of values")
        }
        var fields: [UpstreamName: String?] = [:]
        for member in members {
            guard member.value.isNull || member.value.string != nil else {
                throw InjectionRefusal("fields.\(member.name): must be a string or null")
            }
            fields[UpstreamName(member.name)] = .some(member.value.string)
        }
        return fields
    }
}

/// Why an update is not published.
struct InjectionRefusal: Error, Sendable, Hashable {
    let status: Int
    let reason: String

    init(status: Int = 400, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}

extension FeedDirectory {
    mutating func injected(_ update: InjectedUpdate) throws(InjectionRefusal) -> [(feed: Index, event: FeedEvent)] {
        guard let index = index(named: update.adapter) else {
            throw InjectionRefusal(status: 404, "adapter: there is no \(update.adapter)")
        }
        guard let item = item(update.item, of: index) else {
            throw InjectionRefusal(status: 404, "item: there is no \(update.item)")
        }
        switch update.event {
        case .request(let request): return requested(request, to: update.adapter)
        case .update(let changes):
            let names = fields(of: index)
            if let name = changes.keys.map(\.text).sorted().first(where: { names.firstIndex(ofName: $0) == nil }) {
                throw InjectionRefusal("fields: there is no \(name)")
            }
            let base = base(of: update.item, item.mode, in: index, key: changes["key"] ?? nil)
            let values = names.enumerated().map { changes[UpstreamName($1)] ?? base?.values[$0] }
            if item.mode == .command, RowCommand(of: FeedRow(values: values), names) == nil {
                throw InjectionRefusal("fields: key and command (ADD, UPDATE or DELETE) are needed")
            }
            return requested(.publish(item: update.item, values: values), to: update.adapter)
        }
    }

    /// The row whose values an update of some fields keeps.
    private func base(of item: String, _ mode: SubscriptionMode, in index: Index, key: String?) -> FeedRow? {
        let rows = snapshot(of: item, in: index).rows
        switch mode {
        case .merge: return rows.last
        case .command: return key.flatMap { key in rows.first { $0.command?.key == UpstreamName(key) } }
        case .distinct, .raw: return nil
        }
    }
}
