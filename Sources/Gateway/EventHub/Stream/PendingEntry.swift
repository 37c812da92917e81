internal import JSONText
internal import SessionCore

struct PendingEntry {
    enum Content {
        /// One event, as it was published.
        case event(HubEvent, TopicContext)
        /// Updates of one row.
        case conflated(ConflatedUpdate, TopicContext)
        case lost(item: Int, count: Int, TopicContext)
        /// The events of a snapshot that are still to be read.
        case snapshot(SnapshotPlace)
        /// Events of a snapshot that are encoded for all its readers.
        case blocks([SnapshotBlock])
        case control(ControlEvent)
        /// None: the event was conflated, dropped or sent.
        case void
    }

    var content: Content
    let firstSequence: UInt64
    var lastSequence: UInt64
    /// The row that the events belong to; nil for events without a row.
    var row: PendingRow?
    /// The approximate size in bytes.
    var weight: Int
    /// The channel of the events; 0 for events of the gateway itself.
    let channel: Int
    /// The place of the entry, set by the queue.
    var place = 0
}

extension PendingEntry {
    var isVoid: Bool { if case .void = content { true } else { false } }

    /// Whether the entry is an update: the window limits the number of these.
    var isWindowed: Bool { if case .event = content { row != nil } else { false } }
}

/// A row of a subscription between two events across which nothing is conflated.
struct PendingRow: Hashable, Sendable {
    let channel: Int
    let item: Int
    /// COMMAND: the key.
    let key: ExactText?
    /// The number of events so far across which nothing is conflated.
    let stretch: Int
}

/// Updates of one row that a late reader receives as one update.
struct ConflatedUpdate: Sendable, Equatable {
    /// The newest update, whose values are sent.
    private(set) var newest: ItemUpdate
    /// The fields that any of the updates changed.
    private(set) var changed: FieldSet
    private(set) var count = 1
    /// Whether the first was part of the snapshot, which the reader then receives with this update.
    let isSnapshot: Bool
    /// COMMAND: whether the first was the row's `ADD`, which the reader has not received.
    let startsWithAdd: Bool

    init(_ update: ItemUpdate) {
        newest = update
        changed = update.changed
        isSnapshot = update.isSnapshot
        startsWithAdd = update.commandForReader == "ADD"
    }

    mutating func add(_ update: ItemUpdate) {
        newest = update
        changed.formUnion(update.changed)
        count += 1
    }

    /// Adds later updates of the same row.
    mutating func add(_ later: ConflatedUpdate) {
        newest = later.newest
        changed.formUnion(later.changed)
        count += later.count
    }

    var isDeletion: Bool { newest.command == "DELETE" }

    /// COMMAND: the command to send.
    var command: String? { startsWithAdd && !isDeletion ? "ADD" : newest.command }
}

extension ItemUpdate {
    /// COMMAND: the command for a reader, to which a row of the present state is new, whatever the command in the values of the row.
    /// Other updates of a known key do not change the key.
    var commandForReader: String? {
        let isNew = isSnapshot && command == "UPDATE" && layout.keyPosition.map(changed.contains) == true
        return isNew ? "ADD" : command
    }
}
