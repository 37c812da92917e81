internal import TLCP

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

    static func row(
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
