internal import Changes
internal import JSONText
internal import SessionCore

/// The place of one stream in a snapshot. Its events are made when the stream can be written; until then the place
/// costs a reference to the values. Updates of rows that are still to be sent are conflated into them.
///
///     row 1   row 2   row 3   row 4        sent: 1 and 2; an update of row 2 is pending behind the snapshot,
///                     ▲       (update)     an update of row 4 takes the place of row 4
///
/// Used by the thread that uses the shard of the stream.
final class SnapshotPlace {
    private let snapshot: Snapshot
    private let conflates: Bool
    private let form: SnapshotForm
    private var content: SnapshotContent
    /// The next event; nil at the end.
    private var upcoming: PendingEntry.Content?
    /// The index of the next event among those of the snapshot.
    private var index = -1
    /// Whether the next event is the one of the snapshot, without a later update.
    private var isUnchanged = true
    /// The updates of rows that are still to be read.
    private var changes: [PendingRow: Change] = [:]
    /// The number of deletions among them.
    private var deletions = 0
    /// The items of which later updates cannot be conflated with the snapshot.
    private var endedItems: Set<Int> = []
    private var isEnded = false
    /// The number of events that are still to be read.
    private(set) var remaining: Int
    /// The approximate size of the updates that are kept in bytes.
    private(set) var weight = 0
    /// The sequence of the newest update that was conflated with a row; 0: none was.
    private(set) var newestTaken: UInt64 = 0

    private enum Change {
        case updated(ConflatedUpdate, weight: Int)
        case deleted
    }

    /// The approximate size of a deletion that is kept, in bytes.
    private static let deletionWeight = 128

    /// The place before the first event of a snapshot, which has to have one.
    init(_ snapshot: Snapshot, conflates: Bool, form: SnapshotForm) {
        self.snapshot = snapshot
        self.form = form
        // The window for live updates does not limit the past rows of a snapshot.
        self.conflates = conflates && snapshot.context.policy != .keepNewest
        content = snapshot.content
        remaining = snapshot.content.count
        advance()
    }

    var channel: Int { snapshot.channel }
    var firstSequence: UInt64 { snapshot.sequences.first }
    var lastSequence: UInt64 { snapshot.sequences.last }
    var isAtEnd: Bool { upcoming == nil }

    /// Returns the next event with its sequence, or blocks of events with that of the first one; nil at the end.
    func next() -> (content: PendingEntry.Content, sequence: UInt64)? {
        guard let next = upcoming else { return nil }
        let sequence = snapshot.sequences.sequence(at: index)
        let blocks = nextBlocks(from: next)
        if let rest = blocks.last?.rest {
            content = rest
            let count = blocks.reduce(0) { $0 + $1.count }
            index += count - 1
            advance()
            remaining = upcoming == nil ? 0 : max(1, remaining - count)
            return (.blocks(blocks), sequence)
        }
        advance()
        remaining = upcoming == nil ? 0 : max(1, remaining - 1)
        return (next, upcoming == nil ? snapshot.sequences.last : sequence)
    }

    /// The blocks that begin here; none if the snapshot is for this stream alone, and if a row of the first block was changed. The
    /// last event has another sequence: any one could be the last after a deletion, and after an update its sequence is greater.
    private func nextBlocks(from first: PendingEntry.Content) -> [SnapshotBlock] {
        guard index % SnapshotBlock.length == 0, isUnchanged, deletions == 0, snapshot.isShared else { return [] }
        let number = index / SnapshotBlock.length
        let mostBytes = newestTaken == 0 ? SnapshotBlock.usualBytes : 0
        let known = snapshot.blocks(from: number, as: form.variant, form.types, upTo: mostBytes)
        if !known.isEmpty, newestTaken == 0 { return known }
        var rest = content
        var events = [first.event].compactMap(\.self)
        while events.count < SnapshotBlock.length, let event = rest.next() { events.append(event) }
        if events.contains(where: isChanged) || newestTaken > 0 && rest.isAtEnd { return [] }
        if !known.isEmpty { return known }
        let block = form.encode(events, from: index, of: snapshot, rest: rest)
        snapshot.keep(block, number, as: form.variant)
        return [block]
    }

    private func isChanged(_ event: SubscriptionEvent) -> Bool {
        if !changes.isEmpty, case .update(let update) = event { changes[row(of: update)] != nil } else { false }
    }

    /// Conflates an update with the row that it refers to; nil if that row was read, or is not in the snapshot.
    func take(_ update: ItemUpdate, sequence: UInt64) -> PendingEvents.Losses? {
        let losses = take(update)
        if losses != nil { newestTaken = sequence }
        return losses
    }

    private func take(_ update: ItemUpdate) -> PendingEvents.Losses? {
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
        deletions += 1
        changes[row] = .deleted
        return PendingEvents.Losses(conflated: 2)
    }

    /// Later updates are not conflated with the snapshot.
    func endStretch() { isEnded = true }

    /// Later updates of an item are not conflated with the snapshot.
    func endStretch(item: Int) { endedItems.insert(item) }

    private func row(of update: ItemUpdate) -> PendingRow {
        let key = snapshot.context.policy == .conflateByKey ? update.key : nil
        return PendingRow(channel: channel, item: update.itemPos, key: key.map { ExactText($0) }, stretch: 0)
    }

    private func advance() {
        let context = snapshot.context
        isUnchanged = true
        while let event = content.next() {
            index += 1
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
                isUnchanged = false
                return
            case .deleted:
                weight -= Self.deletionWeight
                deletions -= 1
            }
        }
        upcoming = nil
    }
}

extension PendingEntry.Content {
    fileprivate var event: SubscriptionEvent? {
        switch self {
        case .event(.subscription(let event), _): event
        case .conflated(let update, _): .update(update.newest)
        default: nil
        }
    }
}

/// The form in which a stream receives the events of a snapshot.
struct SnapshotForm {
    let variant: EventVariant
    /// The types of the fields; nil: they are not known.
    let types: [FieldType]?
    /// The state of the shard of the stream, whose encoder has the epoch of the stream.
    let context: ShardContext

    /// The block of events, of which the first one has this index.
    fileprivate func encode(
        _ events: [SubscriptionEvent],
        from index: Int,
        of snapshot: Snapshot,
        rest: SnapshotContent
    ) -> SnapshotBlock {
        var bytes: [UInt8] = []
        let last = rest.isAtEnd ? events.count - 1 : events.count
        for (offset, event) in events.enumerated() {
            let sequences = snapshot.sequences
            let sequence = offset == last ? sequences.last : sequences.sequence(at: index + offset)
            context.encoder.encode(.subscription(event), sequence: sequence, of: snapshot.context, as: variant, types)
            bytes += context.encoder.json.bytes
        }
        return SnapshotBlock(bytes, count: events.count, rest: rest, types: types)
    }
}

/// The events of a snapshot, made when they are read.
struct SnapshotContent: Sendable {
    private let prologue: [SubscriptionEvent]
    private var prologueIndex = 0
    private var values: PresentStateReader
    let count: Int

    /// The present values of a subscription. The snapshot of an item in MERGE mode has an end as well, where the server
    /// sends none, so that readers can detect its completion.
    init(ofValues table: ValueTable) {
        prologue = []
        values = PresentStateReader(table, endsMergeItems: true, keepsCommands: true)
        count = values.count
    }

    /// The events that lead from a subscription without values to the present ones (see `ValueTable.eventsFromStart`).
    init(fromStartOf table: ValueTable) {
        prologue = table.firstEvents
        values = PresentStateReader(table, keepsCommands: true)
        count = prologue.isEmpty ? 0 : prologue.count + values.count
    }

    /// The next event; nil at the end.
    mutating func next() -> SubscriptionEvent? {
        guard count > 0 else { return nil }
        guard prologueIndex < prologue.count else { return values.next() }
        prologueIndex += 1
        return prologue[prologueIndex - 1]
    }

    var isAtEnd: Bool {
        var behind = self
        return behind.next() == nil
    }

    /// Whether the row that an update refers to is still to be read.
    func isAhead(of update: ItemUpdate) -> Bool { values.isAhead(of: update) }
}
