internal import TLCP

/// Continues the values of a reader with another upstream subscription to the same items and fields.
///
/// The reader keeps its values while it moves: it sees neither the end of the former subscription, nor the beginning of
/// the new one, nor its snapshot, but only what has changed since, as updates that are no snapshot.
package struct SnapshotMerge {
    /// How far the new subscription has told the state of an item.
    private enum Progress {
        /// No event yet. *Leaves to* `snapshot` or `done`.
        case waiting
        /// Part of the snapshot: in COMMAND mode its keys, in DISTINCT mode its rows. *Leaves to* `done`.
        case snapshot(keys: Set<UpstreamName>, rows: [ItemUpdate])
        /// The values are those of the new subscription; its events are passed on as they are.
        case done
    }

    /// The values that the reader has.
    private var table: ValueTable
    private var progress: [Progress] = []
    private var isPassing = false

    /// A reader moves that has these values.
    package init(into table: ValueTable) { self.table = table }

    /// Whether a reader can move between subscriptions of these properties: the rows of a second level come from
    /// subscriptions of their own, whose snapshots cannot be told from updates.
    package static func isPossible(for properties: SubscriptionProperties) -> Bool {
        properties.secondLevelFields == nil
    }

    /// Whether all further events are passed on as they are.
    package var isOver: Bool {
        isPassing || (!progress.isEmpty && progress.allSatisfy { if case .done = $0 { true } else { false } })
    }

    /// The events for the reader in place of an event of the new subscription.
    package mutating func take(_ event: SubscriptionEvent) -> [SubscriptionEvent] {
        if isPassing { return [event] }
        let events = merged(event)
        for event in events { table.apply(event) }
        return events
    }

    private mutating func merged(_ event: SubscriptionEvent) -> [SubscriptionEvent] {
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            let isSame =
                table.isSubscribed && table.itemCount == itemCount && table.fieldCount == fieldCount
                && table.keyPosition == keyPosition && table.commandPosition == commandPosition
            guard isSame else { return restart(with: event) }
            progress = Array(repeating: .waiting, count: min(itemCount, SubscriptionLimits.maxItemCount))
            return []
        case .update(let update): return merged(update)
        case .endOfSnapshot(let itemPos): return snapshotEnded(itemPos, with: event)
        case .clearSnapshot(let itemPos):
            finish(itemPos)
            return [event]
        case .unsubscribed, .failed:
            isPassing = true
            return [event]
        case .lostUpdates, .secondLevelFailed, .secondLevelLostUpdates, .realMaxFrequency:
            return [event]
        }
    }

    /// The new subscription is another one than the reader knows: it begins anew.
    private mutating func restart(with event: SubscriptionEvent) -> [SubscriptionEvent] {
        isPassing = true
        return table.isSubscribed ? [.unsubscribed(isFinal: false), event] : [event]
    }

    private mutating func finish(_ itemPos: Int) {
        if progress.indices.contains(itemPos - 1) { progress[itemPos - 1] = .done }
    }

    // MARK: - Updates

    private mutating func merged(_ update: ItemUpdate) -> [SubscriptionEvent] {
        let index = update.itemPos - 1
        guard progress.indices.contains(index) else { return [.update(update)] }
        let keys: Set<UpstreamName>
        let rows: [ItemUpdate]
        switch progress[index] {
        case .done: return [.update(update)]
        case .waiting: (keys, rows) = ([], [])
        case .snapshot(let seenKeys, let seenRows): (keys, rows) = (seenKeys, seenRows)
        }
        guard update.isSnapshot else {
            progress[index] = .done
            return news(in: rows, of: update.itemPos) + [.update(update)]
        }
        switch table.properties.mode {
        case .raw, .merge:
            progress[index] = .done
            return difference(of: update, from: table.row(item: update.itemPos), update.values)
        case .distinct:
            progress[index] = .snapshot(keys: keys, rows: rows + [update])
            return []
        case .command:
            guard let key = update.key else { return [.update(update)] }
            progress[index] = .snapshot(keys: keys.union([UpstreamName(key)]), rows: rows)
            return difference(of: update, from: table.row(item: update.itemPos, key: key), Self.updated(update))
        }
    }

    /// What a row of the snapshot tells a reader that has the row `present`; without it the reader gets the row as it
    /// is, which is news once the reader has seen the end of a snapshot.
    private func difference(
        of update: ItemUpdate,
        from present: [String?]?,
        _ values: [String?]
    ) -> [SubscriptionEvent] {
        guard let present else {
            guard table.snapshotEnded(item: update.itemPos) else { return [.update(update)] }
            return [.update(update.asNews(values: update.values, changed: update.changed))]
        }
        let changed = values.differences(from: present)
        var significant = changed
        // The command of a row that is known says how the row became known, not what it holds.
        if let position = update.layout.commandPosition { significant.remove(position) }
        return significant.isEmpty ? [] : [.update(update.asNews(values: values, changed: changed))]
    }

    /// The values of a row of the snapshot, as an update of a key that exists.
    private static func updated(_ update: ItemUpdate) -> [String?] {
        var values = update.values
        if let position = update.layout.commandPosition, values.indices.contains(position - 1) {
            values[position - 1] = "UPDATE"
        }
        return values
    }

    // MARK: - The end of a snapshot

    private mutating func snapshotEnded(_ itemPos: Int, with event: SubscriptionEvent) -> [SubscriptionEvent] {
        guard progress.indices.contains(itemPos - 1) else { return [event] }
        let ended = progress[itemPos - 1]
        finish(itemPos)
        let end = table.snapshotEnded(item: itemPos) ? [] : [event]
        switch ended {
        case .done: return [event]
        case .waiting: return deletions(of: itemPos, except: []) + end
        case .snapshot(let keys, let rows):
            return deletions(of: itemPos, except: keys) + news(in: rows, of: itemPos) + end
        }
    }

    /// DISTINCT: the rows of a snapshot that follow the last one of the reader.
    private func news(in rows: [ItemUpdate], of itemPos: Int) -> [SubscriptionEvent] {
        guard let last = table.row(item: itemPos) else { return rows.map { .update($0) } }
        let known = rows.lastIndex { $0.values.differences(from: last).isEmpty }
        return rows.dropFirst(known.map { $0 + 1 } ?? 0).map {
            .update($0.asNews(values: $0.values, changed: $0.changed))
        }
    }

    /// COMMAND: the keys of the reader that the snapshot does not have.
    private func deletions(of itemPos: Int, except keys: Set<UpstreamName>) -> [SubscriptionEvent] {
        guard let layout = table.layout else { return [] }
        return table.keys(item: itemPos).filter { !keys.contains(UpstreamName($0)) }.map { key in
            let values = ValueTable.deleted(key, layout)
            let changed = values.differences(from: table.row(item: itemPos, key: key) ?? [])
            return .update(
                ItemUpdate(layout: layout, itemPos: itemPos, isSnapshot: false, values: values, changed: changed)
            )
        }
    }
}

extension ItemUpdate {
    /// The update as one that is no part of a snapshot.
    fileprivate func asNews(values: [String?], changed: FieldSet) -> ItemUpdate {
        ItemUpdate(
            layout: layout,
            itemPos: itemPos,
            isSnapshot: false,
            values: values,
            changed: changed,
            itemRow: itemRow
        )
    }
}
