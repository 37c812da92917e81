internal import SessionCore

/// A shard's side of a channel: how far it may be read, and by whom.
///
/// `@unchecked`: made under the hub's lock; used on the shard's thread only from then on.
final class ShardChannel: @unchecked Sendable {
    /// The channel's id.
    let id: Int
    /// How far the log may be read.
    var view: LogView
    /// The streams of this shard that read it.
    private(set) var cursors: [Cursor] = []
    private var first = 0

    /// A channel that nobody reads yet.
    init(id: Int, view: LogView) {
        self.id = id
        self.view = view
    }

    /// The log may be read up to this view; an older one than the present changes nothing.
    func advance(to view: LogView) {
        if (view.tailNumber, view.tailCount) > (self.view.tailNumber, self.view.tailCount) { self.view = view }
    }

    /// Adds a reader.
    func add(_ cursor: Cursor) {
        cursor.place = cursors.count
        cursors.append(cursor)
    }

    /// Takes a reader out; the last one takes its place.
    func remove(_ cursor: Cursor) {
        guard cursors.indices.contains(cursor.place), cursors[cursor.place] === cursor else { return }
        let last = cursors.removeLast()
        guard last !== cursor else { return }
        last.place = cursor.place
        cursors[cursor.place] = last
    }

    /// Visits all readers, each time from another one on, so that nobody is always the last.
    func forEachCursor(_ body: (Cursor) -> Void) {
        guard !cursors.isEmpty else { return }
        first = (first + 1) % cursors.count
        for index in first..<cursors.count { body(cursors[index]) }
        for index in 0..<first { body(cursors[index]) }
    }
}
