internal import Changes
internal import EventHub
internal import JSONText
internal import SessionCore

/// Writes the members of items and rows; determines once what all of them have in common.
struct RowMembers {
    private let table: ValueTable
    private let names: [String]
    private let naming: FieldNaming
    /// The types of the fields; empty: all values are text.
    private let types: [FieldType]

    /// - Parameter feed: The feed by which the values are read; nil: none, and all values are text.
    init(_ table: ValueTable, _ feed: FeedConfiguration? = nil) {
        self.table = table
        names = table.properties.items.names ?? []
        naming = FieldNaming(table.properties)
        types = feed.map { feed in (table.properties.fields.names ?? []).map(feed.type) } ?? []
    }

    private var isCommand: Bool { table.properties.mode == .command }

    // MARK: - Items

    func name(_ item: Int) -> String { names.indices.contains(item - 1) ? names[item - 1] : "\(item)" }

    func writeName(_ item: Int, to json: inout JSONBytes) {
        json.member("item", names.indices.contains(item - 1) ? names[item - 1] : nil)
        json.member("itemPos", item)
    }

    /// Writes the name, the last row and, in COMMAND mode, the rows by key of an item.
    func write(_ item: Int, to json: inout JSONBytes) {
        writeName(item, to: &json)
        write(table.row(item: item), to: &json)
        guard isCommand else { return }
        json.key("keys")
        writeRows(of: item, to: &json)
    }

    /// Writes a list of items without their ages, up to the first beyond `ValuesView.mostTableBytes`; returns the places
    /// of the ages.
    func writeItems(_ items: some Sequence<Int>, isStale: Bool, to json: inout JSONBytes) -> [EncodedTable.Gap] {
        var gaps: [EncodedTable.Gap] = []
        gaps.reserveCapacity(min(items.underestimatedCount, Self.mostReservedGaps))
        json.beginArray()
        for item in items where json.bytes.count <= ValuesView.mostTableBytes {
            json.beginObject()
            write(item, to: &json)
            writeAge(of: item, isStale: isStale, to: &json, &gaps)
            json.endObject()
        }
        json.endArray()
        return gaps
    }

    private static let mostReservedGaps = 4096

    /// Writes the members that differ between readings of equal values, with a gap in the place of the age.
    func writeAge(of item: Int, isStale: Bool, to json: inout JSONBytes, _ gaps: inout [EncodedTable.Gap]) {
        json.key("age")
        gaps.append(EncodedTable.Gap(place: json.bytes.count, changedAt: table.changedAt(item: item)))
        json.gap()
        json.member("stale", isStale)
    }

    /// Writes the row of an item or, in COMMAND mode, its rows by key.
    func writeRows(of item: Int, to json: inout JSONBytes) {
        guard isCommand else {
            writeFields(table.row(item: item), to: &json)
            return
        }
        json.beginObject()
        for key in table.keys(item: item) where json.bytes.count <= ValuesView.mostTableBytes {
            json.key(key)
            writeFields(table.row(item: item, key: key), to: &json)
        }
        json.endObject()
    }

    // MARK: - Rows

    /// Writes all fields of a row, and the names of those whose values are not of their types.
    func write(_ row: [String?]?, to json: inout JSONBytes) {
        json.key("fields")
        let invalid = writeFields(row, to: &json)
        if !invalid.isEmpty { json.member("invalid", Optional(invalid.map { naming.label($0 + 1) })) }
    }

    /// Writes the fields of a row, of which second-level fields are a part once the second level has sent values for the key, as
    /// in events; without a row, all first-level fields as null. Returns the indices of the fields whose values are not of the
    /// types of the fields.
    @discardableResult
    func writeFields(_ row: [String?]?, to json: inout JSONBytes) -> [Int] {
        var invalid: [Int] = []
        let keys = naming.keys
        json.beginObject()
        let count = row?.count ?? table.properties.fields.names?.count ?? table.fieldCount ?? 0
        for index in 0..<max(count, 0) where json.bytes.count <= ValuesView.mostTableBytes {
            if index < keys.texts.count { json.key(index, of: keys) } else { json.key("\(index + 1)") }
            if !writeValue(row?[index], at: index, to: &json) { invalid.append(index) }
        }
        json.endObject()
        return invalid
    }

    /// Writes a value by the type of the field, a value of another type as text. Returns whether the value is of the type.
    @discardableResult
    func writeValue(_ value: String?, at index: Int, to json: inout JSONBytes) -> Bool {
        if let value, index < types.count { return TypedValue.write(value, as: types[index], to: &json) }
        json.string(value)
        return true
    }
}
