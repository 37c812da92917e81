extension ValueTable {
    /// What a late joiner has to be told before it can follow the updates: for each item the present state as updates
    /// marked as snapshot, with all fields changed, and the end of the snapshot where it is over.
    ///
    /// MERGE: the row. DISTINCT: the last rows, oldest first. COMMAND: one `ADD` for each key, in the order in which the
    /// keys came. RAW: nothing. Where the snapshot is still coming in, its end is left to the event that will tell it.
    package func presentState() -> [SubscriptionEvent] {
        items.indices.flatMap { presentState(item: $0 + 1) }
    }

    /// The present state of one item alone.
    package func presentState(item position: Int) -> [SubscriptionEvent] {
        guard let layout, items.indices.contains(position &- 1) else { return endOfSnapshot(position, hasRows: false) }
        let item = items[position &- 1]
        var rows: [[String?]] = []
        switch properties.mode {
        case .raw: break
        case .merge: if let row = item.row { rows.append(row) }
        case .distinct: rows = item.recent.rows
        case .command: item.rowsByKey.forEach { rows.append(Self.added($1, layout)) }
        }
        let updates = rows.map { row in
            SubscriptionEvent.update(
                ItemUpdate(
                    layout: layout,
                    itemPos: position,
                    isSnapshot: true,
                    values: row,
                    changed: FieldSet(all: row.count)
                )
            )
        }
        return updates + endOfSnapshot(position, hasRows: !updates.isEmpty)
    }

    private static func added(_ row: [String?], _ layout: SubscriptionLayout) -> [String?] {
        guard let position = layout.commandPosition, row.indices.contains(position &- 1) else { return row }
        var row = row
        row[position &- 1] = "ADD"
        return row
    }

    /// The end of the snapshot, if the joiner would otherwise wait for one in vain.
    private func endOfSnapshot(_ position: Int, hasRows: Bool) -> [SubscriptionEvent] {
        switch properties.mode {
        case .merge, .raw:
            return []
        case .distinct, .command:
            let isRequested = properties.requestedSnapshot != nil && properties.requestedSnapshot != .no
            let isOver = isRequested ? snapshotEnded(item: position) : hasRows
            return isOver ? [.endOfSnapshot(itemPos: position)] : []
        }
    }
}
