internal import TLCP

extension CommandTable {
    /// Whether a key can name an item of its own: not empty, without space, not made of digits alone.
    static func isItemName(_ key: String) -> Bool {
        var hasOther = false
        for byte in key.utf8 {
            if byte == UInt8(ascii: " ") { return false }
            if !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { hasOther = true }
        }
        return hasOther
    }

    /// The key's second-level subscription was asked for.
    mutating func secondLevelOpened(_ id: SubscriptionID, for key: String) {
        rows[RowKey(key)]?.secondLevel = id
    }

    /// The key's second-level subscription is no more: it was refused, did not fit, or the server removed it. What it
    /// sent stays. False: the key has another one by now, or is gone.
    mutating func secondLevelClosed(_ id: SubscriptionID, for key: String) -> Bool {
        guard rows[RowKey(key)]?.secondLevel == id else { return false }
        rows[RowKey(key)]?.secondLevel = nil
        return true
    }

    /// Takes in a complete second-level row and composes it with the first-level one. Nil: the key has another
    /// second-level subscription by now, or is gone.
    mutating func compose(
        _ secondRow: [String?],
        changed secondChanged: FieldSet,
        from id: SubscriptionID,
        key: String,
        commandPosition: Int
    ) -> Change? {
        guard let index = rows.index(forKey: RowKey(key)), rows.values[index].secondLevel == id else { return nil }
        let row = rows.values[index].row.replacing(commandPosition, by: Self.update)
        var changed = FieldSet()
        secondChanged.forEach { changed.insert(row.count + $0) }
        if rows.values[index].row[commandPosition - 1] != Self.update { changed.insert(commandPosition) }
        rows.values[index].row = row
        rows.values[index].secondRow = secondRow
        return Change(values: row + secondRow, changed: changed, step: .updated)
    }
}
