package import TLCP

/// A feed whose items change by `FeedRequest`s alone.
struct ManualFeed: Feed {
    let fields: [String]

    private struct State: Sendable {
        /// The rows of an item in a mode other than COMMAND.
        var rows: [FeedRow] = []
        var keyedRows = KeyedRows()
        var snapshotEnded = false
    }

    private let configuration: ManualFeedConfiguration
    private let names: Set<UpstreamName>
    private let remembered: Int
    private let maxItems = 100_000
    private let fieldDiffs: [Int: DiffFormats]
    private var states: [UpstreamName: State] = [:]

    /// A feed without data. `remembered`: rows of a DISTINCT item that its snapshot keeps.
    init(_ configuration: ManualFeedConfiguration, remembered: Int) {
        self.configuration = configuration
        self.remembered = remembered
        names = Set(configuration.items.map { UpstreamName($0) })
        fields = configuration.fields
        let columns = configuration.fields.enumerated().compactMap { column, name in
            configuration.fieldDiffs[UpstreamName(name)].map { (column, $0) }
        }
        fieldDiffs = Dictionary(uniqueKeysWithValues: columns)
    }

    func item(named name: String) -> FeedItem? {
        guard names.isEmpty || names.contains(UpstreamName(name)), !name.isEmpty else { return nil }
        return FeedItem(
            mode: mode(of: UpstreamName(name)),
            maxFrequency: configuration.maxFrequency,
            diffs: configuration.diffs,
            fieldDiffs: fieldDiffs,
            selectors: configuration.selectors
        )
    }

    func snapshot(of name: String) -> FeedSnapshot {
        let state = states[UpstreamName(name)] ?? State()
        return FeedSnapshot(
            rows: state.rows + state.keyedRows.present,
            isComplete: !configuration.holdsSnapshot || state.snapshotEnded
        )
    }

    /// Performs a request; one that does not apply to the feed is ignored.
    mutating func requested(_ request: FeedRequest) -> [FeedEvent] {
        switch request {
        case .publish(let item, let values): publish(values, to: item)
        case .clear(let item): clear(item)
        case .lose(let item, let count):
            self.item(named: item) == nil ? [] : [FeedEvent(item: item, content: .lost(max(1, count)))]
        case .endSnapshot(let item): endSnapshot(item)
        }
    }

    private mutating func publish(_ values: [String?], to item: String) -> [FeedEvent] {
        let name = UpstreamName(item)
        guard self.item(named: item) != nil, states[name] != nil || states.count < maxItems,
            let row = row(values, mode(of: name))
        else { return [] }
        remember(row, as: name)
        return [FeedEvent(item: item, content: .row(row))]
    }

    private func mode(of item: UpstreamName) -> SubscriptionMode { configuration.modes[item] ?? configuration.mode }

    private mutating func remember(_ row: FeedRow, as item: UpstreamName) {
        switch mode(of: item) {
        case .raw: return
        case .merge: states[item, default: State()].rows = [row]
        case .distinct:
            states[item, default: State()].rows.append(row)
            if let rows = states[item]?.rows, rows.count > remembered { states[item]?.rows.removeFirst() }
        case .command: rememberKey(row, as: item)
        }
    }

    private mutating func rememberKey(_ row: FeedRow, as item: UpstreamName) {
        guard let command = row.command else { return }
        if command.kind == .delete {
            states[item, default: State()].keyedRows.remove(command.key)
        } else {
            var stored = row
            stored.command?.kind = .add
            if let index = fields.firstIndex(of: "command") { stored.values[index] = RowCommand.Kind.add.rawValue }
            states[item, default: State()].keyedRows.set(stored, for: command.key)
        }
    }

    private mutating func clear(_ item: String) -> [FeedEvent] {
        let name = UpstreamName(item)
        guard self.item(named: item) != nil else { return [] }
        switch mode(of: name) {
        case .raw: return []
        case .merge: return publish([], to: item)
        case .distinct, .command:
            states[name]?.rows = []
            states[name]?.keyedRows = KeyedRows()
            return [FeedEvent(item: item, content: .cleared)]
        }
    }

    private mutating func endSnapshot(_ item: String) -> [FeedEvent] {
        guard configuration.holdsSnapshot, self.item(named: item) != nil else { return [] }
        let name = UpstreamName(item)
        guard states[name]?.snapshotEnded != true else { return [] }
        states[name, default: State()].snapshotEnded = true
        return [FeedEvent(item: item, content: .endOfSnapshot)]
    }
}

/// The rows of a COMMAND item, in the order in which their keys were added.
private struct KeyedRows: Sendable {
    /// Nil: a row that was removed.
    private var rows: [FeedRow?] = []
    private var places: [UpstreamName: Int] = [:]

    var present: [FeedRow] { rows.compactMap(\.self) }

    mutating func set(_ row: FeedRow, for key: UpstreamName) {
        if let place = places[key] {
            rows[place] = row
        } else {
            places[key] = rows.count
            rows.append(row)
        }
    }

    mutating func remove(_ key: UpstreamName) {
        guard let place = places.removeValue(forKey: key) else { return }
        rows[place] = nil
        // The places of removed rows are at most as many as the others.
        guard rows.count > 2 * places.count else { return }
        let kept = places.sorted { $0.value < $1.value }
        rows = kept.map { rows[$0.value] }
        places = Dictionary(uniqueKeysWithValues: zip(kept.map(\.key), rows.indices))
    }
}

/// A data adapter whose items change by `FeedRequest`s only.
package struct ManualFeedConfiguration: Sendable, Hashable {
    /// Item names; empty accepts any name.
    package var items: [String]
    /// Field names, in the order of the rows that are published.
    package var fields: [String]
    /// The only mode that the items allow.
    package var mode: SubscriptionMode
    /// The modes of single items, in place of `mode`.
    package var modes: [UpstreamName: SubscriptionMode] = [:]
    package var diffs: DiffFormats
    /// Diff formats of single fields, in place of `diffs`, by name.
    package var fieldDiffs: [UpstreamName: DiffFormats]
    /// Greatest frequency of an item, in updates per second; nil sets no limit.
    package var maxFrequency: Double?
    /// Selectors that subscriptions may name; any other is refused with code 25.
    package var selectors: Set<String>
    /// Whether snapshots are incomplete until `FeedRequest.endSnapshot`.
    package var holdsSnapshot: Bool

    package init(
        items: [String] = [],
        fields: [String],
        mode: SubscriptionMode = .merge,
        diffs: DiffFormats = [],
        fieldDiffs: [UpstreamName: DiffFormats] = [:],
        maxFrequency: Double? = nil,
        selectors: Set<String> = [],
        holdsSnapshot: Bool = false
    ) {
        self.items = items
        self.fields = fields
        self.mode = mode
        self.diffs = diffs
        self.fieldDiffs = fieldDiffs
        self.maxFrequency = maxFrequency
        self.selectors = selectors
        self.holdsSnapshot = holdsSnapshot
    }
}
