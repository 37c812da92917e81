internal import JSONText
internal import TLCP

/// The rows of one item in COMMAND mode by key, with the second-level row of each key.
///
/// The user receives `ADD` first, then `UPDATE`s, then `DELETE`, even if the server sends other commands. Incoming rows
/// are complete: unchanged fields were copied from the previous row of the item, which may belong to another key.
///
/// ```text
///                row, not DELETE            row, DELETE
/// key unknown    ADD, all changed           DELETE, all changed, nothing kept
/// key known      UPDATE, what differs       DELETE, all but the key changed, key gone
/// ```
struct CommandTable: Sendable {
    struct KeyRow: Sendable {
        /// The first-level row as delivered: its command is `ADD` or `UPDATE`.
        var row: [String?]
        /// The key's second-level subscription; nil: none was requested, it was refused, or the server removed it.
        var secondLevel: SubscriptionID?
        /// The last second-level row; nil: none yet. From the first one on, updates show both levels.
        var secondRow: [String?]?

        /// Puts another first-level row in place; returns where it differs, and the second-level row.
        mutating func replaceRow(by values: [String?]) -> (changed: FieldSet, secondRow: [String?]?) {
            let changed = values.differences(from: row)
            row = values
            return (changed, secondRow)
        }
    }

    /// The change of a key by a row, and of the key's second-level subscription.
    enum Step: Sendable, Equatable {
        /// The key is new.
        case added
        /// The key was known and stays.
        case updated
        /// The key was deleted; its second-level subscription, if any, is to be removed.
        case deleted(SubscriptionID?)
    }

    /// A row as it is to be delivered.
    struct Change: Sendable, Equatable {
        var values: [String?]
        var changed: FieldSet
        var step: Step
    }

    /// The commands as delivered to the user.
    static let add = "ADD", update = "UPDATE", delete = "DELETE"

    var rows: [UpstreamName: KeyRow] = [:]

    /// Applies a complete row. Nil: its key is null, which the protocol forbids.
    mutating func apply(_ row: [String?], keyPosition: Int, commandPosition: Int) -> Change? {
        guard row.indices.contains(keyPosition - 1), row.indices.contains(commandPosition - 1),
            let key = row[keyPosition - 1]
        else { return nil }
        return row[commandPosition - 1] == Self.delete
            ? delete(key, width: row.count, keyPosition: keyPosition, commandPosition: commandPosition)
            : store(key, row, commandPosition: commandPosition)
    }

    private mutating func store(_ key: String, _ row: [String?], commandPosition: Int) -> Change {
        guard let index = rows.index(forKey: UpstreamName(key)) else {
            let values = row.replacing(commandPosition, by: Self.add)
            rows[UpstreamName(key)] = KeyRow(row: values)
            return Change(values: values, changed: FieldSet(all: values.count), step: .added)
        }
        let values = row.replacing(commandPosition, by: Self.update)
        let (changed, secondRow) = rows.values[index].replaceRow(by: values)
        let shown = secondRow.map { values + $0 } ?? values
        return Change(values: shown, changed: changed, step: .updated)
    }

    private mutating func delete(_ key: String, width: Int, keyPosition: Int, commandPosition: Int) -> Change {
        let known = rows.removeValue(forKey: UpstreamName(key))
        let width = width + (known?.secondRow?.count ?? 0)
        var values = [String?](repeating: nil, count: width)
        values[keyPosition - 1] = key
        values[commandPosition - 1] = Self.delete
        var changed = FieldSet(all: width)
        if known != nil { changed.remove(keyPosition) }
        return Change(values: values, changed: changed, step: .deleted(known?.secondLevel))
    }

    /// Removes all keys; returns the second-level subscriptions to be removed, oldest first.
    mutating func clear() -> [SubscriptionID] {
        let secondLevels = rows.values.compactMap(\.secondLevel)
        rows.removeAll()
        return secondLevels.sorted()
    }
}

extension CommandTable {
    /// Whether a key can name an item: not empty, without space, not made of digits alone.
    static func isItemName(_ key: String) -> Bool {
        !key.isEmpty && !key.utf8.contains(UInt8(ascii: " ")) && !NameSource.isNumber(key)
    }

    /// A second-level subscription was created for the key.
    mutating func secondLevelOpened(_ id: SubscriptionID, for key: String) {
        rows[UpstreamName(key)]?.secondLevel = id
    }

    /// The key's second-level subscription ended: it was refused, did not fit, or was removed by the server. Its last
    /// row stays. Returns false if the key has another one or is gone.
    mutating func secondLevelClosed(_ id: SubscriptionID, for key: String) -> Bool {
        guard rows[UpstreamName(key)]?.secondLevel == id else { return false }
        rows[UpstreamName(key)]?.secondLevel = nil
        return true
    }

    /// Applies a complete second-level row and joins it with the first-level one. Nil: the key has another
    /// second-level subscription or is gone.
    mutating func compose(
        _ secondRow: [String?],
        changed secondChanged: FieldSet,
        from id: SubscriptionID,
        key: String,
        commandPosition: Int
    ) -> Change? {
        guard let index = rows.index(forKey: UpstreamName(key)), rows.values[index].secondLevel == id else {
            return nil
        }
        let row = rows.values[index].row.replacing(commandPosition, by: Self.update)
        var changed = FieldSet()
        secondChanged.forEach { changed.insert(row.count + $0) }
        if rows.values[index].row[commandPosition - 1] != Self.update { changed.insert(commandPosition) }
        rows.values[index].row = row
        rows.values[index].secondRow = secondRow
        return Change(values: row + secondRow, changed: changed, step: .updated)
    }
}

extension [String?] {
    /// The row with one value replaced; the same row if it has that value already.
    func replacing(_ position: Int, by value: String) -> [String?] {
        if self[position - 1] == value { return self }
        var row = self
        row[position - 1] = value
        return row
    }

    /// The positions whose values differ from those of another row of the same width; null and "" differ.
    func differences(from other: [String?]) -> FieldSet {
        var changed = FieldSet()
        for index in indices where index >= other.count || !self[index].hasSameBytes(as: other[index]) {
            changed.insert(index + 1)
        }
        return changed
    }
}
