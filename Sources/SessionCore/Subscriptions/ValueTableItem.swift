/// What a `ValueTable` holds of one item.
struct ValueTableItem: Sendable {
    /// The last row, in COMMAND mode as the server sent it and whatever its key; nil before the first update.
    private(set) var row: [String?]?
    /// COMMAND only: the rows by key, commands rewritten.
    private(set) var rowsByKey = OrderedRows<[String?]>()
    /// COMMAND only: the key that the last update was about.
    private(set) var lastKey: String?
    /// DISTINCT only: the last rows.
    private(set) var recent: RecentRows
    /// Whether the end of the snapshot was told.
    var snapshotEnded = false
    /// When the item changed last; nil before its first update.
    private(set) var changedAt: Moment?

    /// An item without data.
    init(recentLimit: Int) { recent = RecentRows(limit: recentLimit) }

    /// Takes in an update of this item.
    mutating func apply(_ update: ItemUpdate, at now: Moment) {
        changedAt = now
        guard update.layout.commandPosition != nil else {
            row = update.values
            recent.append(update.values)
            return
        }
        if let itemRow = update.itemRow {
            row = itemRow
        } else if update.values.count <= update.layout.fieldCount {
            row = update.values
        }
        guard let key = update.key else { return }
        lastKey = key
        rowsByKey[key] = update.command == "DELETE" ? nil : update.values
    }

    /// Forgets the keys and the list of past rows, but not the last row: later updates are still told against it.
    mutating func clearSnapshot(at now: Moment) {
        changedAt = now
        rowsByKey.removeAll()
        recent.removeAll()
    }
}
