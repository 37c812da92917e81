internal import SessionCore

/// The place of one stream in a snapshot. Its events are made when the stream can be written; until then the place
/// costs a reference to the values. Updates of rows that are still to be sent are conflated into them.
///
///     row 1   row 2   row 3   row 4        sent: 1 and 2; an update of row 2 is pending behind the snapshot,
///                     ▲       (update)     an update of row 4 takes the place of row 4
///
/// Used by the thread that uses the shard of the stream.
final class SnapshotPlace {
    /// The channel of the subscription.
    let channel: Int
    private let context: TopicContext
    private let conflates: Bool
    private let sequences: SnapshotSequences
    private var content: SnapshotContent
    /// The next event; nil at the end.
    private var upcoming: PendingEntry.Content?
    /// The number of events that were returned.
    private var returned = 0
    /// The updates of rows that are still to be read.
    private var changes: [PendingRow: Change] = [:]
    /// The items of which later updates cannot be conflated with the snapshot.
    private var endedItems: Set<Int> = []
    private var isEnded = false
    /// The number of events that are still to be read.
    private(set) var remaining: Int
    /// The approximate size of the updates that are kept in bytes.
    private(set) var weight = 0

    /// The change of a row that is still to be read.
    private enum Change {
        case updated(ConflatedUpdate, weight: Int)
        case deleted
    }

    /// The approximate size of a deletion that is kept, in bytes.
    private static let deletionWeight = 128

    /// The place before the first event of a snapshot, which has to have one.
    init(_ snapshot: Snapshot, conflates: Bool) {
        channel = snapshot.channel
        context = snapshot.context
        // The window for live updates does not limit the past rows of a snapshot.
        self.conflates = conflates && snapshot.context.policy != .keepNewest
        sequences = snapshot.sequences
        content = snapshot.content
        remaining = snapshot.content.count
        advance()
    }

    /// The sequence of the first event.
    var firstSequence: UInt64 { sequences.first }
    /// The sequence of the last event.
    var lastSequence: UInt64 { sequences.last }
    /// Whether all events were read.
    var isAtEnd: Bool { upcoming == nil }

    /// Returns the next event with its sequence; nil at the end.
    func next() -> (content: PendingEntry.Content, sequence: UInt64)? {
        guard let next = upcoming else { return nil }
        advance()
        let sequence = upcoming == nil ? sequences.last : sequences.sequence(at: returned)
        returned += 1
        remaining = upcoming == nil ? 0 : max(1, remaining - 1)
        return (next, sequence)
    }

    /// Conflates an update with the row that it refers to; nil if that row was read, or is not in the snapshot.
    func take(_ update: ItemUpdate) -> PendingEvents.Losses? {
        guard conflates, !isEnded, !endedItems.contains(update.itemPos), content.isAhead(of: update) else { return nil }
        let row = self.row(of: update)
        switch changes[row] {
        case .deleted:
            return nil
        case .updated(var present, let size):
            // Emptied first, so that the update is changed in place and not in a copy.
            changes[row] = nil
            weight -= size
            if update.command == "DELETE" { return delete(row) }
            present.add(update)
            keep(present, row)
        case nil:
            if update.command == "DELETE" { return delete(row) }
            keep(ConflatedUpdate(update), row)
        }
        return PendingEvents.Losses(conflated: 1)
    }

    private func keep(_ update: ConflatedUpdate, _ row: PendingRow) {
        let size = HubEvent.weight(of: update.newest)
        weight += size
        changes[row] = .updated(update, weight: size)
    }

    /// The reader has not received the row: neither the row nor its deletion is sent.
    private func delete(_ row: PendingRow) -> PendingEvents.Losses {
        weight += Self.deletionWeight
        changes[row] = .deleted
        return PendingEvents.Losses(conflated: 2)
    }

    /// Later updates are not conflated with the snapshot.
    func endStretch() { isEnded = true }

    /// Later updates of an item are not conflated with the snapshot.
    func endStretch(item: Int) { endedItems.insert(item) }

    private func row(of update: ItemUpdate) -> PendingRow {
        let key = context.policy == .conflateByKey ? update.key : nil
        return PendingRow(channel: channel, item: update.itemPos, key: key, stretch: 0)
    }

    private func advance() {
        while let event = content.next() {
            guard conflates, case .update(let update) = event else {
                upcoming = .event(.subscription(event), context)
                return
            }
            var conflated = ConflatedUpdate(update)
            guard !changes.isEmpty, let change = changes.removeValue(forKey: row(of: update)) else {
                upcoming = .conflated(conflated, context)
                return
            }
            switch change {
            case .updated(let later, let size):
                weight -= size
                conflated.add(later)
                upcoming = .conflated(conflated, context)
                return
            case .deleted:
                weight -= Self.deletionWeight
            }
        }
        upcoming = nil
    }
}

/// The events of a snapshot, made when they are read.
struct SnapshotContent: Sendable {
    /// The events before the values.
    private let prologue: [SubscriptionEvent]
    private var prologueIndex = 0
    private var values: PresentStateReader
    /// The number of events.
    let count: Int

    /// The present values of a subscription. The snapshot of an item in MERGE mode has an end as well, where the server
    /// sends none, so that readers can detect its completion.
    init(ofValues table: ValueTable) {
        prologue = []
        values = PresentStateReader(table, endsMergeItems: true)
        count = values.count
    }

    /// The events that lead from a subscription without values to the present ones (see `ValueTable.eventsFromStart`).
    init(fromStartOf table: ValueTable) {
        prologue = table.firstEvents
        values = PresentStateReader(table)
        count = prologue.isEmpty ? 0 : prologue.count + values.count
    }

    /// The next event; nil at the end.
    mutating func next() -> SubscriptionEvent? {
        guard count > 0 else { return nil }
        guard prologueIndex < prologue.count else { return values.next() }
        prologueIndex += 1
        return prologue[prologueIndex - 1]
    }

    /// Whether the row that an update refers to is still to be read.
    func isAhead(of update: ItemUpdate) -> Bool { values.isAhead(of: update) }
}
