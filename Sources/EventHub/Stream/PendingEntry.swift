internal import SessionCore

/// Something that one reader has still to be told, and that has no shared bytes.
struct PendingEntry: Sendable {
    /// What it is.
    enum Content: Sendable {
        /// One event, as it was published.
        case event(HubEvent, TopicContext)
        /// Updates of one row.
        case conflated(ConflatedUpdate, TopicContext)
        /// Updates of an item that were lost.
        case lost(item: Int, count: Int, TopicContext)
        /// Something of the gateway's own.
        case control(ControlEvent)
        /// Nothing any more.
        case void
    }

    /// What it is.
    var content: Content
    /// The sequence of the first event that it stands for.
    let firstSequence: UInt64
    /// The sequence of the last one.
    var lastSequence: UInt64
    /// The row that it is about; nil if it is not about one.
    let row: PendingRow?
    /// About how many bytes of memory it holds.
    let weight: Int
    /// The channel it came from; 0 for the gateway's own.
    let channel: Int
}

/// A row of a subscription, between two events that nothing may be conflated across.
struct PendingRow: Hashable, Sendable {
    /// The subscription's channel.
    let channel: Int
    /// The item's position.
    let item: Int
    /// COMMAND: the key.
    let key: String?
    /// Counts the events that nothing may be conflated across.
    let stretch: Int
}

/// Updates of one row that a late reader gets as one.
struct ConflatedUpdate: Sendable, Equatable {
    /// The newest of them: its values are told.
    private(set) var newest: ItemUpdate
    /// What any of them changed.
    private(set) var changed: FieldSet
    /// How many they are.
    private(set) var count = 1
    /// Whether the first was part of the snapshot: then the reader gets its snapshot with this one.
    let isSnapshot: Bool
    /// COMMAND: whether the first was the row's `ADD`, which the reader has not seen.
    let startsWithAdd: Bool

    /// One update, so far.
    init(_ update: ItemUpdate) {
        newest = update
        changed = update.changed
        isSnapshot = update.isSnapshot
        startsWithAdd = update.command == "ADD"
    }

    /// Takes in the next update of the same row.
    mutating func add(_ update: ItemUpdate) {
        newest = update
        changed.formUnion(update.changed)
        count += 1
    }

    /// Whether the row is gone.
    var isDeletion: Bool { newest.command == "DELETE" }

    /// COMMAND: the command to tell.
    var command: String? { startsWithAdd && !isDeletion ? "ADD" : newest.command }
}
