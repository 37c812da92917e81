/// The way from the values of one subscription to those of another one with the same items and fields.
extension ValueTable {
    /// Whether an item of the other table has the values that take the place of this one's. In DISTINCT and COMMAND mode
    /// its snapshot has to be complete, if one was requested.
    package func isCovered(_ item: Int, by other: ValueTable) -> Bool {
        switch properties.mode {
        case .raw: return true
        case .merge: return row(item: item) == nil || other.row(item: item) != nil
        case .distinct, .command:
            let isRequested = properties.requestedSnapshot != nil && properties.requestedSnapshot != .no
            return !isRequested || other.snapshotEnded(item: item)
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
