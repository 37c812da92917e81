internal import TLCP

/// The data that a subscription has received since `SUBOK` or `SUBCMD`. They end with the subscription or the session.
struct SubscriptionData: Sendable {
    /// The names and positions that go with every update.
    let layout: SubscriptionLayout
    /// The number of items announced by the server.
    let itemCount: Int
    /// The frequency limits in force on both levels; nil with one level.
    var frequencies: FrequencyAggregate?
    private let mode: SubscriptionMode
    private let wantsSnapshot: Bool
    private var items = ChunkedArray<ItemState>()

    /// Data of a subscription that has just become active; the announcement agrees with the properties.
    init(_ properties: SubscriptionProperties, _ announcement: SubscriptionAnnouncement) {
        layout = SubscriptionLayout(
            properties,
            fieldCount: announcement.fieldCount,
            keyPosition: announcement.positions?.key,
            commandPosition: announcement.positions?.command
        )
        itemCount = announcement.itemCount
        mode = properties.mode
        wantsSnapshot = properties.requestsSnapshot
        if properties.secondLevelFields != nil { frequencies = FrequencyAggregate() }
    }

    /// Data that correspond to the present values of a subscription with one level.
    init(_ properties: SubscriptionProperties, _ announcement: SubscriptionAnnouncement, continuing table: ValueTable) {
        self.init(properties, announcement)
        for index in table.items.indices { items.append(ItemState(properties.mode, continuing: table.items[index])) }
    }

    // MARK: - Rows

    /// The update of an item, decoded against its row before, in COMMAND mode as the server sent it.
    mutating func decode(item: Int, fields: FieldList) throws(ProtocolViolation) -> ItemUpdate {
        guard item >= 1, item <= itemCount else { throw noItem(item, tag: "U") }
        if items.count < item { items.grow(to: item, with: ItemState(mode)) }
        let isFirst = items[item - 1].row == nil
        if isFirst { items[item - 1].row = ItemRow(fieldCount: layout.fieldCount) }
        let isSnapshot =
            switch mode {
            case .merge: wantsSnapshot ? isFirst : false
            case .distinct, .command: wantsSnapshot ? !items[item - 1].hasSnapshotEnded : false
            case .raw: false
            }
        do throws(TLCPError) {
            let change = try items[item - 1].row?.apply(fields)
            return ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: isSnapshot,
                values: items[item - 1].row?.values ?? [],
                changed: change?.changed ?? FieldSet(),
                patches: change?.patches ?? [:]
            )
        } catch {
            var isOwnLimit = false
            if case .field(_, .baseTooLarge) = error { isOwnLimit = true }
            throw ProtocolViolation(reason: error.description, isOwnLimit: isOwnLimit)
        }
    }

    /// The update for the user of a decoded one, and in COMMAND mode the change of its key.
    mutating func deliver(_ row: ItemUpdate) throws(ProtocolViolation) -> (ItemUpdate, CommandTable.Step?) {
        guard let keyPosition = layout.keyPosition, let commandPosition = layout.commandPosition else {
            return (row, nil)
        }
        let item = row.itemPos
        guard
            let change = items[item - 1].table?
                .apply(row.values, keyPosition: keyPosition, commandPosition: commandPosition)
        else { throw ProtocolViolation(reason: "Null key in an update of item \(item)") }
        let update = ItemUpdate(
            layout: layout,
            itemPos: item,
            isSnapshot: row.isSnapshot,
            values: change.values,
            changed: change.changed
        )
        .made(from: row.values)
        return (update, change.step)
    }

    /// The update that a second-level row makes together with its key's first-level row. Nil: the key is gone.
    mutating func compose(_ row: ItemUpdate, from id: SubscriptionID, item: Int, key: String) -> ItemUpdate? {
        guard let commandPosition = layout.commandPosition, items.indices.contains(item - 1),
            let change = items[item - 1].table?
                .compose(row.values, changed: row.changed, from: id, key: key, commandPosition: commandPosition)
        else { return nil }
        var patches: [Int: String] = [:]
        for (position, patch) in row.patches { patches[layout.fieldCount + position] = patch }
        return ItemUpdate(
            layout: layout,
            itemPos: item,
            isSnapshot: row.isSnapshot,
            values: change.values,
            changed: change.changed,
            patches: patches
        )
    }

    // MARK: - Snapshot

    /// `EOS`.
    mutating func snapshotEnded(item: Int) throws(ProtocolViolation) {
        items[try index(of: item, inSnapshotBy: "EOS")].hasSnapshotEnded = true
    }

    /// `CS`; returns the second-level subscriptions that are to be removed.
    mutating func snapshotCleared(item: Int) throws(ProtocolViolation) -> [SubscriptionID] {
        items[try index(of: item, inSnapshotBy: "CS")].table?.clear() ?? []
    }

    /// Throws if the item does not exist; `tag` is that of the line.
    func checkItem(_ item: Int, tag: String) throws(ProtocolViolation) {
        guard item >= 1, item <= itemCount else { throw noItem(item, tag: tag) }
    }

    private func noItem(_ item: Int, tag: String) -> ProtocolViolation {
        ProtocolViolation(reason: "\(tag) for item \(item) of \(itemCount)")
    }

    /// The index of the item of an event that divides snapshots from updates; the state of the item is created at its
    /// first use. Throws in a mode without such events.
    private mutating func index(of item: Int, inSnapshotBy tag: String) throws(ProtocolViolation) -> Int {
        switch mode {
        case .distinct, .command: break
        case .merge, .raw: throw ProtocolViolation(reason: "\(tag) for a subscription in \(mode.rawValue) mode")
        }
        try checkItem(item, tag: tag)
        if items.count < item { items.grow(to: item, with: ItemState(mode)) }
        return item - 1
    }

    // MARK: - Second level

    /// A second-level subscription was made for a key.
    mutating func secondLevelOpened(_ id: SubscriptionID, item: Int, key: String) {
        guard items.indices.contains(item - 1) else { return }
        items[item - 1].table?.secondLevelOpened(id, for: key)
    }

    /// A key's second-level subscription ended; false if the key has another one or is gone.
    mutating func secondLevelClosed(_ id: SubscriptionID, item: Int, key: String) -> Bool {
        guard items.indices.contains(item - 1) else { return false }
        return items[item - 1].table?.secondLevelClosed(id, for: key) ?? false
    }

    /// All second-level subscriptions there are, by increasing identifier.
    var secondLevels: [SubscriptionID] {
        items.indices.flatMap { items[$0].table?.rows.values.compactMap(\.secondLevel) ?? [] }.sorted()
    }
}

/// The state of one item: the row that deltas refer to, the snapshot's phase, and in COMMAND mode the rows by key.
///
/// The row is the last one of the item, of any key. Neither `CS` nor `EOS` changes it.
struct ItemState: Sendable {
    var hasSnapshotEnded = false
    /// The rows by key; nil in modes other than COMMAND.
    var table: CommandTable?
    /// The last row; nil before the first update.
    fileprivate var row: ItemRow?

    /// The state of an item without data.
    init(_ mode: SubscriptionMode) { if mode == .command { table = CommandTable() } }

    /// The state that corresponds to the present values of an item.
    init(_ mode: SubscriptionMode, continuing item: ValueTableItem) {
        self.init(mode)
        hasSnapshotEnded = item.snapshotEnded
        row = item.row.map { ItemRow(continuing: $0) }
        item.rowsByKey?.forEach { key, row in table?.rows[UpstreamName(key)] = CommandTable.KeyRow(row: row) }
    }
}

/// Limits on the counts that a server may announce, so that a single line cannot make the client exhaust its memory.
package enum SubscriptionLimits {
    /// The most items that one subscription may have.
    static let maxItemCount = 1 << 20
    /// The most fields that one level of a subscription may have.
    static let maxFieldCount = 1 << 16
    /// The most values, items times fields, that one level of a subscription may have.
    static let maxValueCount = 1 << 22

    /// Whether a subscription may have this number of items and fields.
    package static func admit(itemCount: Int, fieldCount: Int) -> Bool {
        guard 0...maxItemCount ~= itemCount, 0...maxFieldCount ~= fieldCount else { return false }
        return itemCount * fieldCount <= maxValueCount
    }
}

/// A line contradicts an earlier one: the session is to be closed with error 61.
struct ProtocolViolation: Error, Equatable {
    /// The contradiction, for the error message.
    let reason: String
    /// Whether the line only exceeds a limit of this client: its subscription is to fail alone.
    var isOwnLimit = false
}

/// The frequency requested by the user compared with the one requested from the server.
///
/// ```text
/// stable --(requested differs)--> changing --(accepted)--> compare again
///                                          --(refused)--> still the value sent? give up : compare again
/// ```
struct FrequencyNegotiation: Sendable {
    /// The value of the user's property.
    private(set) var requested: RequestedMaxFrequency?
    /// The value for an add: the property at `subscribe`, or at the end of the last session.
    private(set) var current: RequestedMaxFrequency?
    /// The value of the last reconf written; nil: none since the last comparison.
    private var sent: RequestedMaxFrequency?

    /// A negotiation that starts with the present value of the property.
    init(_ requested: RequestedMaxFrequency?) {
        self.requested = requested
        current = requested
    }

    /// Whether a reconf is needed: the values differ, and a reconf can carry the new one.
    var differs: Bool {
        switch requested {
        case .limited, .unlimited: requested != current && current != .unfiltered
        case .unfiltered, nil: false
        }
    }

    mutating func request(_ frequency: RequestedMaxFrequency?) { requested = frequency }

    /// Whether a reconf that was due, but not written, is still needed.
    var isWorthSending: Bool { sent != nil || differs }

    /// A reconf is written: it carries the property's present value.
    mutating func reconfWritten() { sent = requested }

    /// The server accepted or refused the reconf. True: another one is needed; after a refusal, only if the property has
    /// changed meanwhile.
    mutating func reconfAnswered(isAccepted: Bool) -> Bool {
        defer { sent = nil }
        guard isAccepted else { return requested != sent && differs }
        current = sent
        return differs
    }

    /// The session ended: the next add carries the present value of the property.
    mutating func sessionEnded() {
        current = requested
        sent = nil
    }
}

/// The highest frequency in force on the two levels of a subscription.
///
/// It counts the second-level subscriptions by frequency, so that the end of one of thousands does not require a scan
/// of the others.
struct FrequencyAggregate: Sendable {
    private var firstLevel: RealMaxFrequency?
    private var secondLevels: [SubscriptionID: RealMaxFrequency] = [:]
    private var counts: [RealMaxFrequency: Int] = [:]
    private var notified: RealMaxFrequency?

    /// `CONF` of the first level.
    mutating func firstLevelReceived(_ frequency: RealMaxFrequency) { firstLevel = frequency }

    /// `CONF` of a second-level subscription.
    mutating func secondLevelReceived(_ frequency: RealMaxFrequency, of id: SubscriptionID) {
        secondLevelEnded(id)
        secondLevels[id] = frequency
        counts[frequency, default: 0] += 1
    }

    mutating func secondLevelEnded(_ id: SubscriptionID) {
        guard let frequency = secondLevels.removeValue(forKey: id), let count = counts[frequency] else { return }
        counts[frequency] = count > 1 ? count - 1 : nil
    }

    /// The aggregate, if it differs from the one notified last.
    mutating func news() -> RealMaxFrequency?? {
        let current = highest
        guard current != notified else { return nil }
        notified = current
        return .some(current)
    }

    private var highest: RealMaxFrequency? {
        var highest = firstLevel
        for frequency in counts.keys { highest = Self.higher(highest, frequency) }
        return highest
    }

    private static func higher(_ left: RealMaxFrequency?, _ right: RealMaxFrequency) -> RealMaxFrequency {
        switch (left, right) {
        case (nil, _): right
        case (.unlimited, _), (_, .unlimited): .unlimited
        case (.limited(let left), .limited(let right)): .limited(max(left, right))
        }
    }
}
