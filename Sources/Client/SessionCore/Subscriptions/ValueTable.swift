internal import Synchronization
internal import TLCP

/// The present values of one subscription, updated by its events in order.
///
/// The table serves the getters of a `Subscription` and the first values of later readers. A copy is a snapshot that costs
/// nothing until one of the two changes. Applying an update costs O(1).
package struct ValueTable: Sendable {
    /// The properties of the subscription.
    package let properties: SubscriptionProperties
    /// Whether the last of `subscribed`, `unsubscribed` and `failed` was `subscribed`.
    package private(set) var isSubscribed = false
    /// The number of items announced by the server; nil while not subscribed.
    package private(set) var itemCount: Int?
    /// The number of first-level fields announced by the server; nil while not subscribed.
    package private(set) var fieldCount: Int?
    /// COMMAND only: the 1-based position of the key field; nil while not subscribed.
    package private(set) var keyPosition: Int?
    /// COMMAND only: the 1-based position of the command field; nil while not subscribed.
    package private(set) var commandPosition: Int?
    /// The frequency limit in force; nil while not subscribed or unknown.
    package private(set) var realMaxFrequency: RealMaxFrequency?
    /// The layout of the last update; nil before the first one of a subscription cycle.
    package private(set) var layout: SubscriptionLayout?

    /// The approximate size of the values in bytes.
    package private(set) var weight = 0
    /// Differs after each event, and between any two tables that are not copies of each other.
    package private(set) var version: UInt64

    private(set) var items = ChunkedArray<ValueTableItem>()
    private let recentLimit: Int
    private static let tables = Atomic<UInt64>(0)

    /// An empty table. `recentRows` limits how many past rows of an item are kept for later readers in DISTINCT mode. A
    /// smaller requested snapshot length lowers the limit; without a requested snapshot at most one row is kept.
    package init(properties: SubscriptionProperties, recentRows: Int = 100) {
        self.properties = properties
        version = Self.tables.wrappingAdd(1, ordering: .relaxed).oldValue << 40
        recentLimit =
            switch (properties.mode, properties.requestedSnapshot) {
            case (.distinct, .yes): recentRows
            case (.distinct, .length(let length)): min(length, recentRows)
            case (.distinct, .no), (.distinct, nil): min(1, recentRows)
            case (.merge, _), (.raw, _), (.command, _): 0
            }
    }

    // MARK: - Events

    /// Applies an event of the subscription; `now` becomes `changedAt` of the item.
    package mutating func apply(_ event: SubscriptionEvent, at now: Moment = .zero) {
        version += 1
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            clear()
            isSubscribed = true
            self.itemCount = itemCount
            self.fieldCount = fieldCount
            self.keyPosition = keyPosition
            self.commandPosition = commandPosition
        case .unsubscribed, .failed:
            clear()
        case .update(let update): apply(update, at: now)
        case .endOfSnapshot(let position):
            if makeItem(at: position) { items[position - 1].snapshotEnded = true }
        case .clearSnapshot(let position):
            if makeItem(at: position) { weight += items[position - 1].clearSnapshot(at: now) }
        case .realMaxFrequency(let frequency):
            realMaxFrequency = frequency
        case .lostUpdates, .secondLevelFailed, .secondLevelLostUpdates:
            break
        }
    }

    /// Applies an update.
    package mutating func apply(_ update: ItemUpdate, at now: Moment = .zero) {
        let position = update.itemPos
        version += 1
        layout = update.layout
        if items.count < position, !makeItem(at: position) { return }
        guard position >= 1 else { return }
        weight += items[position - 1].apply(update, at: now)
    }

    /// Takes the values of another table of an equal subscription. The two tables share the memory of the rows that neither
    /// of them changes.
    package mutating func takeValues(of other: ValueTable) {
        version += 1
        items = other.items
        layout = other.layout
        weight = other.weight
    }

    private mutating func clear() {
        items = ChunkedArray()
        weight = 0
        isSubscribed = false
        itemCount = nil
        fieldCount = nil
        keyPosition = nil
        commandPosition = nil
        realMaxFrequency = nil
        layout = nil
    }

    /// Adds the items up to a position that are missing; false if no subscription has such an item.
    private mutating func makeItem(at position: Int) -> Bool {
        guard position >= 1, position <= SubscriptionLimits.maxItemCount else { return false }
        while items.count < position {
            items.append(ValueTableItem(recentLimit: recentLimit))
            weight += ValueTableItem.emptyWeight
        }
        return true
    }
}

/// Reading: positions are 1-based, names need a list; unknown, null and out-of-bounds values are nil.
extension ValueTable {
    /// The largest item position: the length of the list, else the server's count; nil while unknown.
    package var itemBound: Int? { properties.items.names?.count ?? itemCount }

    /// The largest field position over both levels; nil while unknown.
    package var fieldBound: Int? {
        guard let first = properties.fields.names?.count ?? fieldCount else { return nil }
        guard let second = properties.secondLevelFields else { return first }
        return second.names.map { first + $0.count }
    }

    /// The position of the first item of a name; nil for an unknown name, and with an item group.
    package func position(ofItem name: String) -> Int? {
        properties.items.names?.firstIndex(ofName: name).map { $0 + 1 }
    }

    /// The position of the first field of a name, first level before second. Second-level positions follow the
    /// first-level ones: with a field schema they are known only while subscribed.
    package func position(ofField name: String) -> Int? {
        if let index = properties.fields.names?.firstIndex(ofName: name) { return index + 1 }
        guard let index = properties.secondLevelFields?.names?.firstIndex(ofName: name),
            let first = properties.fields.names?.count ?? fieldCount
        else { return nil }
        return first + index + 1
    }

    /// When the item changed last; nil before its first update.
    package func changedAt(item: Int) -> Moment? {
        // Read in place: a copy of the item would retain all of its contents.
        items.indices.contains(item &- 1) ? items[item &- 1].changedAt : nil
    }

    /// Whether the item's snapshot has ended.
    package func snapshotEnded(item: Int) -> Bool { held(item)?.snapshotEnded ?? false }

    /// The last row of an item, of any key; in COMMAND mode the command is as the server sent it.
    package func row(item: Int) -> [String?]? {
        items.indices.contains(item &- 1) ? items[item &- 1].row : nil
    }

    /// COMMAND only: the row of a key, including the second-level values received so far; the command is `ADD` or
    /// `UPDATE`. Nil for a key that was never added or is deleted.
    package func row(item: Int, key: String) -> [String?]? { held(item)?.rowsByKey?[key] }

    /// COMMAND only: the keys of an item, in the order in which they were added.
    package func keys(item: Int) -> [String] { held(item)?.rowsByKey?.keys ?? [] }

    /// COMMAND only: the number of keys of an item.
    package func keyCount(item: Int) -> Int {
        items.indices.contains(item &- 1) ? items[item &- 1].keyCount : 0
    }

    /// COMMAND only: the number of keys of all items.
    package var keyCount: Int { items.indices.reduce(0) { $0 + items[$1].keyCount } }

    /// The last value of a field, of any key; second-level positions address the key that was updated last.
    package func value(item: Int, field: Int) -> String? {
        guard let held = held(item), let row = held.row, field >= 1 else { return nil }
        if field <= row.count { return row[field &- 1] }
        return held.lastKey.flatMap { held.rowsByKey?[$0] }.flatMap { $0.count >= field ? $0[field &- 1] : nil }
    }

    /// COMMAND only: the value of a field in the row of a key.
    package func value(item: Int, key: String, field: Int) -> String? {
        guard let row = row(item: item, key: key), row.indices.contains(field &- 1) else { return nil }
        return row[field &- 1]
    }

    private func held(_ position: Int) -> ValueTableItem? {
        items.indices.contains(position &- 1) ? items[position &- 1] : nil
    }
}

extension ValueTable {
    /// The first events of a later reader: for each item the present state as updates marked as snapshot,
    /// with all fields changed, and the end of the snapshot if it is over.
    ///
    /// MERGE: the row. DISTINCT: the last rows, oldest first. COMMAND: one `ADD` for each key, in the order in which
    /// the keys were added. RAW: nothing. An incomplete snapshot is ended later by the event itself.
    package func presentState() -> [SubscriptionEvent] {
        var reader = PresentStateReader(self)
        var events: [SubscriptionEvent] = []
        while let event = reader.next() { events.append(event) }
        return events
    }

    /// The last row of each item whose `presentState` does not end with it, as updates marked as snapshot. Applied
    /// after the present state, they change nothing else.
    package func lastRows() -> [SubscriptionEvent] {
        guard let layout else { return [] }
        return items.indices.compactMap { index in
            let item = items[index]
            guard let row = item.row, properties.mode != .merge, item.recent.isEmpty else { return nil }
            let values = item.lastKey.map { item.rowsByKey?[$0] ?? Self.row(of: $0, "DELETE", nil, layout) } ?? row
            return .update(
                ItemUpdate(
                    layout: layout,
                    itemPos: index + 1,
                    isSnapshot: true,
                    values: values,
                    changed: FieldSet(all: values.count),
                    itemRow: layout.commandPosition == nil ? nil : row
                )
            )
        }
    }
}

/// The way from the values of one subscription to those of another one with the same items and fields.
extension ValueTable {
    /// Whether an item of the other table has the values that take the place of this one's. In DISTINCT and COMMAND mode
    /// its snapshot has to be complete, if one was requested.
    package func isCovered(_ item: Int, by other: ValueTable) -> Bool {
        switch properties.mode {
        case .raw: true
        case .merge: row(item: item) == nil || other.row(item: item) != nil
        case .distinct, .command: !properties.requestsSnapshot || other.snapshotEnded(item: item)
        }
    }

    /// The updates that lead from this table to the other one: only what differs, not marked as snapshot. In DISTINCT and
    /// RAW mode the past rows stay as they are.
    package func updates(to other: ValueTable) -> [SubscriptionEvent] {
        guard let layout = other.layout, let count = other.itemCount else { return [] }
        return (1...max(count, 1)).flatMap { item -> [SubscriptionEvent] in
            var events: [SubscriptionEvent] = []
            switch properties.mode {
            case .merge:
                if let new = other.row(item: item), let update = Self.update(row(item: item), new, item, layout) {
                    events.append(update)
                }
            case .command: events += keyUpdates(of: item, to: other, layout)
            case .distinct, .raw: break
            }
            if other.snapshotEnded(item: item), !snapshotEnded(item: item) {
                events.append(.endOfSnapshot(itemPos: item))
            }
            return events
        }
    }

    private func keyUpdates(of item: Int, to other: ValueTable, _ layout: SubscriptionLayout) -> [SubscriptionEvent] {
        let deletions = keys(item: item).filter { other.row(item: item, key: $0) == nil }.map { key in
            Self.event(Self.row(of: key, "DELETE", nil, layout), nil, item, layout)
        }
        let changes = other.keys(item: item).compactMap { key -> SubscriptionEvent? in
            guard let new = other.row(item: item, key: key) else { return nil }
            guard let old = row(item: item, key: key) else {
                return Self.event(Self.row(of: key, "ADD", new, layout), nil, item, layout)
            }
            // A second level that the other subscription has not told yet stays as it is.
            let updated = Self.row(of: key, "UPDATE", new + old.dropFirst(new.count), layout)
            // The command of a row is ADD or UPDATE, whatever its values.
            return Self.update(Self.row(of: key, "UPDATE", old, layout), updated, item, layout)
        }
        return deletions + changes
    }

    private static func row(
        of key: String,
        _ command: String,
        _ values: [String?]?,
        _ layout: SubscriptionLayout
    ) -> [String?] {
        var row = values ?? [String?](repeating: nil, count: layout.fieldCount)
        if let position = layout.keyPosition, row.indices.contains(position - 1) { row[position - 1] = key }
        if let position = layout.commandPosition, row.indices.contains(position - 1) { row[position - 1] = command }
        return row
    }

    /// The update from one row to another; nil if they are equal, byte by byte.
    private static func update(
        _ old: [String?]?,
        _ new: [String?],
        _ item: Int,
        _ layout: SubscriptionLayout
    ) -> SubscriptionEvent? {
        if let old, old.count == new.count, new.differences(from: old).isEmpty { return nil }
        return event(new, old, item, layout)
    }

    private static func event(
        _ values: [String?],
        _ old: [String?]?,
        _ item: Int,
        _ layout: SubscriptionLayout
    ) -> SubscriptionEvent {
        let changed = old.map { values.differences(from: $0) } ?? FieldSet(all: values.count)
        return .update(
            ItemUpdate(layout: layout, itemPos: item, isSnapshot: false, values: values, changed: changed)
        )
    }
}
