/// Readers of a channel, in no order. Each knows its place, and is in one list at a time.
struct CursorList {
    /// The readers.
    private(set) var cursors: [Cursor] = []
    /// The tags of their streams, in the same order.
    private(set) var tags: [Int] = []

    /// Whether there are none.
    var isEmpty: Bool { cursors.isEmpty }

    /// Adds a reader.
    mutating func add(_ cursor: Cursor) {
        cursor.place = cursors.count
        cursors.append(cursor)
        tags.append(cursor.subscriber.tag)
    }

    /// Takes a reader out, if it is in; the last one takes its place.
    mutating func remove(_ cursor: Cursor) {
        let place = cursor.place
        guard cursors.indices.contains(place), cursors[place] === cursor else { return }
        let last = cursors.removeLast()
        let lastTag = tags.removeLast()
        guard last !== cursor else { return }
        last.place = place
        cursors[place] = last
        tags[place] = lastTag
    }
}
