internal import DequeModule

/// The state of one item in a `ValueTable`.
struct ValueTableItem: Sendable {
    /// The last row, in COMMAND mode as the server sent it, of any key; nil before the first update.
    private(set) var row: [String?]?
    /// The rows by key, commands rewritten; nil before the first key, and in modes other than COMMAND.
    private(set) var rowsByKey: OrderedRows<[String?]>?
    /// COMMAND only: the key that the last update was about.
    private(set) var lastKey: String?
    /// DISTINCT only: the last rows, oldest first, at most `recentLimit`.
    private(set) var recent: Deque<[String?]> = []
    /// The number of past rows that are kept.
    let recentLimit: Int
    /// The approximate size of the rows in bytes: in COMMAND mode of those by key, else of the past rows, or of the last one.
    private(set) var weight = 0
    var snapshotEnded = false
    /// When the item changed last; nil before its first update.
    private(set) var changedAt: Moment?

    /// The number of keys.
    var keyCount: Int { rowsByKey?.count ?? 0 }

    /// The approximate size of an item without rows, in bytes.
    static let emptyWeight = 128
    /// The approximate size of a row without values, in bytes.
    private static let rowWeight = 96
    /// The approximate size of a value without its text, in bytes.
    private static let valueWeight = 16

    private static func weight(of row: [String?]?) -> Int {
        guard let row else { return 0 }
        var weight = rowWeight
        for value in row { weight += valueWeight + (value?.utf8.count ?? 0) }
        return weight
    }

    /// Applies an update of this item; returns by how much its weight has grown.
    mutating func apply(_ update: ItemUpdate, at now: Moment) -> Int {
        let before = weight
        changedAt = now
        guard update.layout.commandPosition != nil else {
            let added = Self.weight(of: update.values)
            if recentLimit > 0 {
                if recent.count == recentLimit { weight -= Self.weight(of: recent.removeFirst()) }
                recent.append(update.values)
                weight += added
            } else {
                // Without past rows the weight is that of the last one.
                weight = added
            }
            row = update.values
            return weight - before
        }
        if let itemRow = update.itemRow {
            row = itemRow
        } else if update.values.count <= update.layout.fieldCount {
            row = update.values
        }
        guard let key = update.key else { return 0 }
        lastKey = key
        let values = update.command == "DELETE" ? nil : update.values
        if rowsByKey == nil { rowsByKey = OrderedRows() }
        weight += Self.weight(of: values) - Self.weight(of: rowsByKey?[key])
        rowsByKey?[key] = values
        return weight - before
    }

    /// Removes the keys and the list of past rows, but keeps the last row: later updates refer to it. Returns by how much
    /// the weight of the item has grown.
    mutating func clearSnapshot(at now: Moment) -> Int {
        let before = weight
        changedAt = now
        weight -= keyCount > 0 || !recent.isEmpty ? weight : 0
        rowsByKey = nil
        recent.removeAll()
        return weight - before
    }
}

/// The number of elements of a chunk; a power of two.
private let chunkLength = 64

/// An array in chunks. A copy shares all chunks with the original; a change of an element copies the chunk of the
/// element alone. A snapshot of a large array thus costs little, also if the array changes while the snapshot is kept.
struct ChunkedArray<Element: Sendable>: Sendable {
    private var chunks: [[Element]] = []
    /// The number of elements.
    private(set) var count = 0

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        _read { yield chunks[index / chunkLength][index % chunkLength] }
        _modify { yield &chunks[index / chunkLength][index % chunkLength] }
    }

    /// Adds an element at the end.
    mutating func append(_ element: Element) {
        if count % chunkLength == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }
}
