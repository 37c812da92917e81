internal import TLCP

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

    package func snapshotEnded(item: Int) -> Bool { held(item)?.snapshotEnded ?? false }

    /// The last row of an item, of any key; in COMMAND mode the command is as the server sent it.
    package func row(item: Int) -> [String?]? { items.indices.contains(item &- 1) ? items[item &- 1].row : nil }

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
    /// the keys were added, or the row as it is with `keepsCommands`. RAW: nothing. An incomplete snapshot is ended later by
    /// the event itself.
    package func presentState(keepsCommands: Bool = false) -> [SubscriptionEvent] {
        var reader = PresentStateReader(self, keepsCommands: keepsCommands)
        var events: [SubscriptionEvent] = []
        while let event = reader.next() { events.append(event) }
        return events
    }

    /// The events that report why keys have no second level.
    package var secondLevelFailures: [SubscriptionEvent] {
        secondLevelRefusals.map { .secondLevelFailed(code: $1.code, message: $1.message, key: $0.text) }
    }

    /// The last rows of the items whose `presentState` ends with another row, as updates marked as snapshot. Applied after
    /// the present state, the updates change only the last rows.
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
                    changed: FieldSet(all: values.count)
                )
                .made(from: layout.commandPosition == nil ? nil : row)
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

    /// The updates that lead from this table to the other one: only what differs. Rows that complete a snapshot of this table
    /// are marked as such, and come before its end. In DISTINCT and RAW mode the past rows stay as they are.
    package func updates(to other: ValueTable) -> [SubscriptionEvent] {
        guard let layout = other.layout, let count = other.itemCount else { return [] }
        return (1...max(count, 1)).flatMap { item -> [SubscriptionEvent] in
            var (snapshot, updates): ([SubscriptionEvent], [SubscriptionEvent]) = ([], [])
            switch properties.mode {
            case .merge:
                guard let new = other.row(item: item) else { break }
                let old = row(item: item)
                let isFirst = old == nil && properties.requestsSnapshot
                if let update = Self.update(old, new, item, layout, isSnapshot: isFirst) {
                    if isFirst { snapshot.append(update) } else { updates.append(update) }
                }
            case .command: (snapshot, updates) = keyUpdates(of: item, to: other, layout)
            case .distinct, .raw: break
            }
            if other.snapshotEnded(item: item), !snapshotEnded(item: item) {
                snapshot.append(.endOfSnapshot(itemPos: item))
            }
            return snapshot + updates
        }
    }

    /// The rows that the snapshot of an item lacks, and the changes of other rows. Without a snapshot, or after its end, all are
    /// changes.
    private func keyUpdates(
        of item: Int,
        to other: ValueTable,
        _ layout: SubscriptionLayout
    ) -> (snapshot: [SubscriptionEvent], updates: [SubscriptionEvent]) {
        let isOfSnapshot = properties.requestsSnapshot && !snapshotEnded(item: item)
        var (snapshot, updates): ([SubscriptionEvent], [SubscriptionEvent]) = ([], [])
        for key in keys(item: item) where other.row(item: item, key: key) == nil {
            updates.append(Self.event(Self.row(of: key, "DELETE", nil, layout), nil, item, layout))
        }
        for key in other.keys(item: item) {
            guard let new = other.row(item: item, key: key) else { continue }
            guard let old = row(item: item, key: key) else {
                let row = Self.row(of: key, "ADD", new, layout)
                let addition = Self.event(row, nil, item, layout, isSnapshot: isOfSnapshot)
                if isOfSnapshot { snapshot.append(addition) } else { updates.append(addition) }
                continue
            }
            // A second level that the other subscription has not told yet stays as it is.
            let updated = Self.row(of: key, "UPDATE", new + old.dropFirst(new.count), layout)
            // The command of a row is ADD or UPDATE, whatever its values.
            if let update = Self.update(Self.row(of: key, "UPDATE", old, layout), updated, item, layout) {
                updates.append(update)
            }
        }
        return (snapshot, updates)
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
        _ layout: SubscriptionLayout,
        isSnapshot: Bool = false
    ) -> SubscriptionEvent? {
        if let old, old.count == new.count, new.differences(from: old).isEmpty { return nil }
        return event(new, old, item, layout, isSnapshot: isSnapshot)
    }

    private static func event(
        _ values: [String?],
        _ old: [String?]?,
        _ item: Int,
        _ layout: SubscriptionLayout,
        isSnapshot: Bool = false
    ) -> SubscriptionEvent {
        let changed = old.map { values.differences(from: $0) } ?? FieldSet(all: values.count)
        return .update(
            ItemUpdate(layout: layout, itemPos: item, isSnapshot: isSnapshot, values: values, changed: changed)
        )
    }
}
