internal import TLCP

/// Reads the present state of a table event by event (see `ValueTable.presentState()`). An event is made when it is
/// read; until then the reader costs a reference to the table.
package struct PresentStateReader: Sendable {
    private let table: ValueTable
    private let endsMergeItems: Bool
    private let keepsCommands: Bool
    /// The index of the item that is read, and the end.
    private var item = 0
    private let end: Int
    /// MERGE: 1 after the row. DISTINCT: the number of rows that were read. COMMAND: the next slot.
    private var place = 0
    private var hasRows = false

    /// A reader of all items. `endsMergeItems`: the row of an item in MERGE mode is followed by an end of snapshot;
    /// `keepsCommands`: rows have the commands of the table, else each is an `ADD`.
    package init(_ table: ValueTable, endsMergeItems: Bool = false, keepsCommands: Bool = false) {
        self.table = table
        self.endsMergeItems = endsMergeItems
        self.keepsCommands = keepsCommands
        end = table.items.count
    }

    /// The number of events that a new reader returns.
    package var count: Int {
        (item..<end).reduce(0) { count, index in
            let rows = table.rowCount(at: index)
            return count + rows + (hasEnd(index, hasRows: rows > 0) ? 1 : 0)
        }
    }

    /// The next event; nil at the end.
    package mutating func next() -> SubscriptionEvent? {
        while item < end {
            if let layout = table.layout, let row = nextRow(layout) {
                hasRows = true
                let update = ItemUpdate(
                    layout: layout,
                    itemPos: item + 1,
                    isSnapshot: true,
                    values: row,
                    changed: FieldSet(all: row.count)
                )
                return .update(update)
            }
            let isEnded = hasEnd(item, hasRows: hasRows)
            item += 1
            place = 0
            hasRows = false
            if isEnded { return .endOfSnapshot(itemPos: item) }
        }
        return nil
    }

    /// Whether a row of the present state that an update refers to is still to be read: the item's row in MERGE mode, the
    /// row of the key in COMMAND mode. False in the other modes.
    package func isAhead(of update: ItemUpdate) -> Bool {
        let index = update.itemPos &- 1
        guard index >= item, index < end, table.items.indices.contains(index) else { return false }
        switch table.properties.mode {
        case .merge: return (index > item || place == 0) && table.items[index].row != nil
        case .command:
            guard let key = update.key, let slot = table.items[index].rowsByKey?.slot(of: key) else { return false }
            return index > item || slot >= place
        case .distinct, .raw: return false
        }
    }

    private mutating func nextRow(_ layout: SubscriptionLayout) -> [String?]? {
        guard table.items.indices.contains(item) else { return nil }
        switch table.properties.mode {
        case .raw:
            return nil
        case .merge:
            guard place == 0, let row = table.items[item].row else { return nil }
            place = 1
            return row
        case .distinct:
            guard place < table.items[item].recent.count else { return nil }
            place += 1
            return table.items[item].recent[place - 1]
        case .command:
            guard let (slot, row) = table.items[item].rowsByKey?.row(from: place) else { return nil }
            place = slot + 1
            return keepsCommands ? row : Self.added(row, layout)
        }
    }

    private static func added(_ row: [String?], _ layout: SubscriptionLayout) -> [String?] {
        guard let position = layout.commandPosition, row.indices.contains(position &- 1) else { return row }
        return row.replacing(position, by: CommandTable.add)
    }

    /// Whether an item is followed by the end of its snapshot: not if the end is delivered later.
    private func hasEnd(_ index: Int, hasRows: Bool) -> Bool {
        switch table.properties.mode {
        case .raw: false
        case .merge: endsMergeItems && hasRows
        case .distinct, .command:
            table.properties.requestsSnapshot ? table.snapshotEnded(item: index + 1) : hasRows
        }
    }
}

extension ValueTable {
    /// The number of rows that the present state of an item has.
    fileprivate func rowCount(at index: Int) -> Int {
        guard layout != nil, items.indices.contains(index) else { return 0 }
        switch properties.mode {
        case .raw: return 0
        case .merge: return items[index].row == nil ? 0 : 1
        case .distinct: return items[index].recent.count
        case .command: return items[index].keyCount
        }
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
