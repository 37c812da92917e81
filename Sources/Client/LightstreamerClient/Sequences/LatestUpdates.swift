internal import DequeModule
internal import SessionCore
internal import TLCP

/// The newest update of each item, in COMMAND mode of each key, in the order in which the rows began to wait. The size is
/// bounded by the rows of the subscription.
struct LatestUpdates {
    private struct Row: Hashable {
        let item: Int
        let key: UpstreamName?
    }

    private struct Entry {
        var update: ItemUpdate
        /// Whether the reader may have the key: a row that is added and deleted unread leaves nothing.
        let isKnown: Bool
        let place: UInt64
    }

    private var entries: [Row: Entry] = [:]
    /// The rows in order, with places that removed entries leave.
    private var order: Deque<(row: Row, place: UInt64)> = []
    private var lastPlace: UInt64 = 0

    mutating func put(_ event: SubscriptionEvent) {
        switch event {
        case .update(let update): put(update)
        case .clearSnapshot(let item):
            entries = entries.filter { $0.key.item != item }
            compact()
        case .subscribed: self = LatestUpdates()
        default: break
        }
    }

    private mutating func put(_ update: ItemUpdate) {
        let row = Row(item: update.itemPos, key: update.key.map { UpstreamName($0) })
        if let entry = entries[row] {
            if !entry.isKnown, update.command == "DELETE" {
                entries[row] = nil
                compact()
            } else {
                entries[row]?.update = update.merged(after: entry.update, isAdded: !entry.isKnown)
            }
            return
        }
        lastPlace &+= 1
        entries[row] = Entry(update: update, isKnown: !update.isFirstOfKey, place: lastPlace)
        order.append((row, lastPlace))
    }

    /// Removes and returns the row that has waited longest; nil if none waits.
    mutating func take() -> ItemUpdate? {
        while let (row, place) = order.popFirst() {
            guard let entry = entries[row], entry.place == place else { continue }
            entries[row] = nil
            return entry.update
        }
        return nil
    }

    /// Removes the places without an entry when they are the majority.
    private mutating func compact() {
        guard order.count > 2 * entries.count + 16 else { return }
        order.removeAll { entries[$0.row]?.place != $0.place }
    }
}

extension ItemUpdate {
    /// COMMAND: whether the reader cannot have the key: an `ADD`, or the `DELETE` of a key that was not there, which alone
    /// changes the key field.
    fileprivate var isFirstOfKey: Bool {
        switch command {
        case "ADD": true
        case "DELETE": layout.keyPosition.map(changed.contains) ?? false
        default: false
        }
    }

    /// This update together with an earlier one of the same row: the fields that either changed. JSON Patches are left
    /// out, since they refer to values in between.
    ///
    /// - Parameter isAdded: Whether the row is still to be added for the reader; one that was deleted and added again unread is
    ///   updated.
    fileprivate func merged(after earlier: ItemUpdate, isAdded: Bool) -> ItemUpdate {
        var changed = changed
        changed.formUnion(earlier.changed)
        var values = values
        if command != "DELETE", let position = layout.commandPosition, values.indices.contains(position - 1) {
            values[position - 1] = isAdded ? "ADD" : "UPDATE"
        }
        return ItemUpdate(layout: layout, itemPos: itemPos, isSnapshot: isSnapshot, values: values, changed: changed)
    }
}
