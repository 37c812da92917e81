internal import DequeModule
internal import Synchronization
internal import TLCP

/// The present values of one subscription, updated by its events in order.
///
/// The table serves the getters of a `Subscription` and the first values of later readers. A copy is a snapshot that costs
/// nothing until one of the two changes. Applying an update costs O(1).
package struct ValueTable: Sendable {
    package let properties: SubscriptionProperties
    /// Whether the last of `subscribed`, `unsubscribed` and `failed` was `subscribed`.
    package private(set) var isSubscribed = false
    /// The number of items announced by the server; nil while not subscribed.
    package private(set) var itemCount: Int?
    /// The number of first-level fields announced by the server; nil while not subscribed.
    package private(set) var fieldCount: Int?
    /// COMMAND only: the 1-based position of the key field; nil while not subscribed.
    package private(set) var keyPosition: Int?
    /// COMMAND only: the 1-based position of the command field; nil while not subscribed.
    package private(set) var commandPosition: Int?
    /// The frequency limit in force; nil while not subscribed or unknown.
    package private(set) var realMaxFrequency: RealMaxFrequency?
    /// Why keys have no second level.
    private(set) var secondLevelRefusals: [UpstreamName: UpstreamRefusal] = [:]
    /// The layout of the last update; nil before the first one of a subscription cycle.
    package private(set) var layout: SubscriptionLayout?

    /// The approximate size of the values in bytes.
    package private(set) var weight = 0
    /// Differs after each event, and between any two tables that are not copies of each other.
    package private(set) var version: UInt64

    private(set) var items = ChunkedArray<ValueTableItem>()
    /// The number of items that have a key; nil without a second level.
    private var holders: KeyNumbers?
    private let recentLimit: Int
    private let keyWeight: Int
    private static let tables = Atomic<UInt64>(0)

    /// An empty table. `recentRows` limits how many past rows of an item are kept for later readers in DISTINCT mode. A
    /// smaller requested snapshot length lowers the limit; without a requested snapshot at most one row is kept.
    package init(properties: SubscriptionProperties, recentRows: Int = 100) {
        self.properties = properties
        version = Self.tables.wrappingAdd(1, ordering: .relaxed).oldValue << 40
        keyWeight = properties.secondLevelFields == nil ? ValueTableItem.keyWeight : ValueTableItem.twoLevelKeyWeight
        recentLimit =
            switch (properties.mode, properties.requestedSnapshot) {
            case (.distinct, .yes): recentRows
            case (.distinct, .length(let length)): min(length, recentRows)
            case (.distinct, .no), (.distinct, nil): min(1, recentRows)
            case (.merge, _), (.raw, _), (.command, _): 0
            }
        if properties.secondLevelFields != nil { holders = KeyNumbers() }
    }

    // MARK: - Events

    /// Applies an event of the subscription; `now` becomes `changedAt` of the item.
    package mutating func apply(_ event: SubscriptionEvent, at now: Moment = .zero) {
        version += 1
        switch event {
        case .subscribed(let itemCount, let fieldCount, let keyPosition, let commandPosition):
            clear()
            isSubscribed = true
            self.itemCount = itemCount
            self.fieldCount = fieldCount
            self.keyPosition = keyPosition
            self.commandPosition = commandPosition
        case .unsubscribed, .failed: clear()
        case .update(let update): apply(update, at: now)
        case .endOfSnapshot(let position):
            if makeItem(at: position) { items[position - 1].snapshotEnded = true }
        case .clearSnapshot(let position):
            if holders != nil { keys(item: position).forEach { changeHolders(of: $0, by: -1) } }
            if makeItem(at: position) { weight += items[position - 1].clearSnapshot(at: now) }
        case .realMaxFrequency(let frequency): realMaxFrequency = frequency
        case .secondLevelFailed(let code, let message, let key):
            secondLevelRefusals[UpstreamName(key)] = UpstreamRefusal(code: code, message: message)
        case .lostUpdates, .secondLevelLostUpdates: break
        }
    }

    package mutating func apply(_ update: ItemUpdate, at now: Moment = .zero) {
        let position = update.itemPos
        version += 1
        layout = update.layout
        if items.count < position, !makeItem(at: position) { return }
        guard position >= 1 else { return }
        let keyCount = holders == nil ? 0 : items[position - 1].keyCount
        weight += items[position - 1].apply(update, keyWeight: keyWeight, at: now)
        guard holders != nil, let key = update.key else { return }
        changeHolders(of: key, by: items[position - 1].keyCount - keyCount)
    }

    /// A key was added to an item, or removed. A key that no item has any more is not refused.
    private mutating func changeHolders(of key: String, by change: Int) {
        guard change != 0 else { return }
        let name = UpstreamName(key)
        let count = (holders?[name] ?? 0) + change
        holders?[name] = count > 0 ? count : nil
        if count == 0 { secondLevelRefusals[name] = nil }
    }

    /// Takes the values of another table of an equal subscription. The two tables share the memory of the rows that neither
    /// of them changes.
    package mutating func takeValues(of other: ValueTable) {
        version += 1
        items = other.items
        holders = other.holders
        layout = other.layout
        secondLevelRefusals = other.secondLevelRefusals
        weight = other.weight
    }

    private mutating func clear() {
        items = ChunkedArray()
        if holders != nil { holders = KeyNumbers() }
        weight = 0
        isSubscribed = false
        itemCount = nil
        fieldCount = nil
        keyPosition = nil
        commandPosition = nil
        realMaxFrequency = nil
        secondLevelRefusals = [:]
        layout = nil
    }

    /// Adds the items up to a position that are missing; false if no subscription has such an item.
    private mutating func makeItem(at position: Int) -> Bool {
        guard position >= 1, position <= SubscriptionLimits.maxItemCount else { return false }
        weight += max(0, position - items.count) * ValueTableItem.emptyWeight
        items.grow(to: position, with: ValueTableItem(recentLimit: recentLimit))
        return true
    }

    // MARK: - Reading: positions are 1-based, names need a list; unknown, null and out-of-bounds values are nil

    /// The largest item position: the length of the list, else the server's count; nil while unknown.
    package var itemBound: Int? { properties.items.names?.count ?? itemCount }

    /// The largest field position over both levels; nil while unknown.
    package var fieldBound: Int? {
        guard let first = properties.fields.names?.count ?? fieldCount else { return nil }
        guard let second = properties.secondLevelFields else { return first }
        return second.names.map { first + $0.count }
    }

    /// The position of the first item of a name; nil for an unknown name, and with an item group.
    package func position(ofItem name: String) -> Int? {
        properties.items.names?.firstIndex(ofName: name).map { $0 + 1 }
    }

    /// The position of the first field of a name, first level before second. Second-level positions follow the
    /// first-level ones: with a field schema they are known only while subscribed.
    package func position(ofField name: String) -> Int? {
        if let index = properties.fields.names?.firstIndex(ofName: name) { return index + 1 }
        guard let index = properties.secondLevelFields?.names?.firstIndex(ofName: name),
            let first = properties.fields.names?.count ?? fieldCount
        else { return nil }
        return first + index + 1
    }

    /// When the item changed last; nil before its first update.
    package func changedAt(item: Int) -> Moment? {
        // Read in place: a copy of the item would retain all of its contents.
        items.indices.contains(item &- 1) ? items[item &- 1].changedAt : nil
    }

    package func snapshotEnded(item: Int) -> Bool { held(item)?.snapshotEnded ?? false }

    /// The last row of an item, of any key; in COMMAND mode the command is as the server sent it.
    package func row(item: Int) -> [String?]? { items.indices.contains(item &- 1) ? items[item &- 1].row : nil }

    /// COMMAND only: the row of a key, including the second-level values received so far; the command is `ADD` or
    /// `UPDATE`. Nil for a key that was never added or is deleted.
    package func row(item: Int, key: String) -> [String?]? { held(item)?.rowsByKey?[key] }

    /// COMMAND only: the keys of an item, in the order in which they were added.
    package func keys(item: Int) -> [String] { held(item)?.rowsByKey?.keys ?? [] }

    /// COMMAND only: the number of keys of an item.
    package func keyCount(item: Int) -> Int {
        items.indices.contains(item &- 1) ? items[item &- 1].keyCount : 0
    }

    /// COMMAND only: the number of keys of all items.
    package var keyCount: Int { items.indices.reduce(0) { $0 + items[$1].keyCount } }

    /// The last value of a field, of any key; second-level positions address the key that was updated last.
    package func value(item: Int, field: Int) -> String? {
        guard let held = held(item), let row = held.row, field >= 1 else { return nil }
        if field <= row.count { return row[field &- 1] }
        return held.lastKey.flatMap { held.rowsByKey?[$0] }.flatMap { $0.count >= field ? $0[field &- 1] : nil }
    }

    /// COMMAND only: the value of a field in the row of a key.
    package func value(item: Int, key: String, field: Int) -> String? {
        guard let row = row(item: item, key: key), row.indices.contains(field &- 1) else { return nil }
        return row[field &- 1]
    }

    private func held(_ position: Int) -> ValueTableItem? {
        items.indices.contains(position &- 1) ? items[position &- 1] : nil
    }
}

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

    var keyCount: Int { rowsByKey?.count ?? 0 }

    /// The approximate size of an item without rows, in bytes.
    static let emptyWeight = 224
    /// The approximate size of a row without values, in bytes.
    private static let rowWeight = 96
    /// The approximate size of a key without the row, in bytes: the places of the key in the tables of client, gateway and hub.
    static let keyWeight = 160
    /// The same with the second-level subscription of the key.
    static let twoLevelKeyWeight = keyWeight + 2_048
    /// The approximate size of a value without its text, in bytes.
    private static let valueWeight = 16

    private static func weight(of row: [String?]?, keyWeight: Int = 0) -> Int {
        guard let row else { return 0 }
        var weight = rowWeight + keyWeight
        for value in row { weight += valueWeight + (value?.utf8.count ?? 0) }
        return weight
    }

    /// Applies an update of this item; returns by how much its weight has grown.
    mutating func apply(_ update: ItemUpdate, keyWeight: Int, at now: Moment) -> Int {
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
        weight += Self.weight(of: values, keyWeight: keyWeight)
        weight -= Self.weight(of: rowsByKey?[key], keyWeight: keyWeight)
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
    private(set) var count = 0

    var indices: Range<Int> { 0..<count }

    subscript(index: Int) -> Element {
        _read { yield chunks[index / chunkLength][index % chunkLength] }
        _modify { yield &chunks[index / chunkLength][index % chunkLength] }
    }

    mutating func append(_ element: Element) {
        if count % chunkLength == 0 { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }

    /// Adds equal elements at the end, up to a number of all elements. Whole chunks of them share their memory until one of
    /// their elements changes: a server may use the last of a million items alone.
    mutating func grow(to newCount: Int, with element: Element) {
        while count < newCount, count % chunkLength > 0 { append(element) }
        let wholeChunks = max(0, newCount - count) / chunkLength
        if wholeChunks > 0 {
            let chunk = [Element](repeating: element, count: chunkLength)
            chunks.append(contentsOf: repeatElement(chunk, count: wholeChunks))
            count += wholeChunks * chunkLength
        }
        while count < newCount { append(element) }
    }
}
