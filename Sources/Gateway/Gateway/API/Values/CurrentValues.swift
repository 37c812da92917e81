internal import EventHub
internal import JSONText
internal import SessionCore

/// The values of a subscription at one moment, and their forms.
struct CurrentValues: Sendable {
    /// The upstream that they come from.
    let upstream: String
    let table: ValueTable
    /// Whether they may be out of date, since the connection that brings them is interrupted.
    let isStale: Bool
    /// The feed by which they are read, with the types of its fields; nil: none, and all values are text.
    var feed: FeedForm?

    private var isCommand: Bool { table.properties.mode == .command }
    private var itemCount: Int { max(table.itemBound ?? 0, 0) }
    /// The fields of a row; those of the longest row while the number of second-level fields is unknown.
    private var fieldCount: Int {
        if let bound = table.fieldBound { return max(bound, 0) }
        return items.reduce(0) { count, item in
            keys(of: item).reduce(count) { max($0, row(item, $1)?.count ?? 0) }
        }
    }

    /// The values in a form, with gaps for their ages; nil if the form has no content, because the only value is null.
    func encoded(as form: ValuesForm) -> EncodedTable? {
        switch form {
        case .json where feed?.shape != nil: return part
        case .json: return json
        case .ndjson: return lines
        case .csv: return EncodedTable(bytes: ValueRows(csv: header, rows).bytes, gaps: [])
        case .text:
            guard !isCommand, itemCount == 1, fieldCount == 1 else {
                let rows = rows
                if case .key = feed?.shape, rows.isEmpty { return nil }
                return EncodedTable(bytes: ValueRows(tabs: rows).bytes, gaps: [])
            }
            return table.value(item: 1, field: 1).map { EncodedTable(bytes: Array($0.utf8), gaps: []) }
        }
    }

    // MARK: - JSON

    private var json: EncodedTable {
        var json = JSONBytes()
        json.beginObject()
        if let feed { json.member("feed", feed.feed.name) } else { json.member("upstream", upstream) }
        json.key("items")
        let gaps = RowMembers(table, feed?.feed).writeItems(items, isStale: isStale, to: &json)
        json.endObject()
        json.newline()
        return EncodedTable(bytes: json.bytes, gaps: gaps)
    }

    /// The list of the items that are not missing, as JSON.
    func presentItems(at now: Moment) -> [UInt8] {
        var json = JSONBytes()
        let present = items.filter { !isMissing($0) }
        let gaps = RowMembers(table, feed?.feed).writeItems(present, isStale: isStale, to: &json)
        return EncodedTable(bytes: json.bytes, gaps: gaps).json(at: now)
    }

    /// The number of items without values, apart from those whose snapshot is empty.
    var missingItems: Int { items.count(where: isMissing) }

    private func isMissing(_ item: Int) -> Bool {
        table.changedAt(item: item) == nil && !table.snapshotEnded(item: item)
    }

    private var lines: EncodedTable {
        var json = JSONBytes()
        var gaps: [EncodedTable.Gap] = []
        let members = RowMembers(table, feed?.feed)
        for item in items {
            for key in keys(of: item) where json.bytes.count <= ValuesView.mostTableBytes {
                json.beginObject()
                members.writeName(item, to: &json)
                if let key { json.member("key", key) }
                members.write(row(item, key), to: &json)
                members.writeAge(of: item, isStale: isStale, to: &json, &gaps)
                json.endObject()
                json.newline()
            }
        }
        return EncodedTable(bytes: json.bytes, gaps: gaps)
    }

    /// The part of a feed that a short URL names: rows without further members.
    private var part: EncodedTable {
        var json = JSONBytes()
        let members = RowMembers(table, feed?.feed)
        switch feed?.shape {
        case .value: members.writeValue(table.value(item: 1, field: 1), at: 0, to: &json)
        case .key(let key):
            if let row = table.row(item: 1, key: key.text) { members.writeFields(row, to: &json) } else { json.null() }
        case .row: members.writeRows(of: 1, to: &json)
        case .table, nil:
            json.beginObject()
            for item in items where json.bytes.count <= ValuesView.mostTableBytes {
                json.key(members.name(item))
                members.writeRows(of: item, to: &json)
            }
            json.endObject()
        }
        json.newline()
        return EncodedTable(bytes: json.bytes, gaps: [])
    }

    // MARK: - Rows

    private var items: [Int] { itemCount > 0 ? Array(1...itemCount) : [] }

    /// The keys of the rows of an item: all, or the one that a short URL names; one nil outside of COMMAND mode.
    private func keys(of item: Int) -> [String?] {
        guard isCommand else { return [nil] }
        let keys = table.keys(item: item)
        guard case .key(let key) = feed?.shape else { return keys }
        return keys.contains { $0.hasSameBytes(as: key.text) } ? [key.text] : []
    }

    private func row(_ item: Int, _ key: String?) -> [String?]? {
        if let key { table.row(item: item, key: key) } else { table.row(item: item) }
    }

    /// The names of the columns of a spreadsheet.
    private var header: [String] {
        let labels = FieldNaming(table.properties)
        return ["item"] + (0..<fieldCount).map { labels.label($0 + 1) }
    }

    /// One row for each item, or for each key of a COMMAND item, with the item first.
    private var rows: [[String?]] {
        let (members, fieldCount) = (RowMembers(table), fieldCount)
        return items.flatMap { item in
            keys(of: item).map { key in
                let row = row(item, key) ?? []
                return [members.name(item)] + (0..<fieldCount).map { $0 < row.count ? row[$0] : nil }
            }
        }
    }
}
