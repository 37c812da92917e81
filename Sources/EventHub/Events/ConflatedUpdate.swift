internal import SessionCore

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
