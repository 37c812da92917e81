internal import JSONText
internal import Primitives
internal import SessionCore
internal import SessionPool

/// The JSON forms of the values of a subscription at one moment.
struct ValuesView {
    let subscription: String
    let table: ValueTable
    /// Whether the values may be out of date, since the connection that brings them is interrupted.
    let isStale: Bool
    let status: SubscriptionStatus
    /// The time that ages refer to.
    let now: Moment

    /// The staleness as a part of entity tags.
    var staleness: String { isStale ? "s" : "f" }

    var isCommand: Bool { table.properties.mode == .command }

    // MARK: - Names and positions

    /// Rejects a position beyond the items. Throws `unknown-item`.
    func check(item position: Int) throws(Problem) {
        if position > table.itemBound ?? .max {
            throw Problem(.unknownItem, detail: "The subscription has no item \(position).")
        }
    }

    /// Rejects a position beyond the fields. Throws `unknown-field`.
    func check(field position: Int) throws(Problem) {
        if position > table.fieldBound ?? .max {
            throw Problem(.unknownField, detail: "The subscription has no field \(position).")
        }
    }

    /// The position of an item: a configured name first, else a number. Throws `unknown-item`.
    func item(_ text: String) throws(Problem) -> Int {
        if let position = table.position(ofItem: text) { return position }
        if let position = Self.position(text), position <= table.itemBound ?? .max { return position }
        throw Problem(.unknownItem, detail: "The subscription has no item \"\(text)\".")
    }

    /// The position of a field: a configured name first, else a number. Throws `unknown-field`.
    func field(_ text: String) throws(Problem) -> Int {
        if let position = table.position(ofField: text) { return position }
        if let position = Self.position(text), position <= table.fieldBound ?? .max { return position }
        throw Problem(.unknownField, detail: "The subscription has no field \"\(text)\".")
    }

    func checkCommand() throws(Problem) {
        guard isCommand else {
            throw Problem(.notCommandMode, detail: "The mode is \(table.properties.mode.rawValue); it has no keys.")
        }
    }

    private static func position(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 9, text.hasASCIIDigitsOnly else { return nil }
        return Int(text).flatMap { $0 >= 1 ? $0 : nil }
    }

    // MARK: - Values

    func value(item: Int, field: Int, key: String? = nil) -> String? {
        guard let key else { return table.value(item: item, field: field) }
        return table.value(item: item, key: key, field: field)
    }

    /// The capacity that the JSON of most items does not exceed, in bytes.
    static let usualPartBytes = 512

    /// The longest JSON of a table or of a part, in bytes.
    static let mostTableBytes = 64 << 20

    /// Encodes the whole table; stops after `mostTableBytes`.
    func encodedTable() -> EncodedTable {
        var json = JSONBytes(capacity: usualTableBytes)
        json.beginObject()
        json.member("subscription", subscription)
        json.key("items")
        let gaps = RowMembers(table).writeItems(items, isStale: isStale, to: &json)
        json.endObject()
        json.newline()
        return EncodedTable(bytes: json.bytes, gaps: gaps)
    }

    /// The number of bytes of the ages in the JSON of the table.
    var agesLength: Int {
        items.reduce(0) { $0 + JSONBytes.length(ofAgeSince: table.changedAt(item: $1), at: now) }
    }

    private var itemCount: Int { max(table.itemBound ?? 0, 0) }
    private var items: some Sequence<Int> { (0..<itemCount).lazy.map { $0 + 1 } }

    /// Writes the members of one item, without its age.
    func writeMembers(of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        RowMembers(table).write(item, to: &json)
    }

    /// Writes the list of an item's keys.
    func writeKeys(of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        RowMembers(table).writeName(item, to: &json)
        json.member("keys", Optional(table.keys(item: item)))
    }

    /// Writes the row of a key; `fields` is null for a key that the item does not have.
    func writeKey(_ key: String, of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        let members = RowMembers(table)
        members.writeName(item, to: &json)
        json.member("key", key)
        json.key("fields")
        if let row = table.row(item: item, key: key) { members.writeFields(row, to: &json) } else { json.null() }
    }

    /// Writes the members that differ between readings of equal values.
    func writeAge(_ item: Int, to json: inout JSONBytes) {
        json.key("age")
        json.age(since: table.changedAt(item: item), at: now)
        json.member("stale", isStale)
    }

    /// The capacity that the JSON of most tables does not exceed, in bytes.
    private var usualTableBytes: Int {
        let items = min(itemCount, 4096)
        let fields = min(max(table.fieldBound ?? 0, 0), 256)
        return min(256 + items * (64 + fields * 32), Self.mostReservedBytes)
    }

    private static let mostReservedBytes = 1 << 20
}

extension ValuesView {
    init(_ resource: SubscriptionResource, now: Moment) {
        let present = resource.present
        self.init(
            subscription: resource.id.rawValue,
            table: present.table,
            isStale: present.isStale,
            status: present.status,
            now: now
        )
    }
}

extension JSONBytes {
    /// Writes an age in seconds, in thousandths; null without a moment.
    mutating func age(since changedAt: Moment?, at now: Moment) {
        if let changedAt { number(thousandths: changedAt.thousandths(until: now)) } else { null() }
    }

    /// The number of bytes that `age` writes.
    static func length(ofAgeSince changedAt: Moment?, at now: Moment) -> Int {
        changedAt.map { length(ofThousandths: $0.thousandths(until: now)) } ?? "null".utf8.count
    }
}

extension Moment {
    /// The milliseconds until a later moment, rounded; 0 until an earlier one.
    fileprivate func thousandths(until later: Moment) -> Int {
        let nanoseconds = max(0, later.nanoseconds &- nanoseconds)
        return Int(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 >= 500_000 ? 1 : 0))
    }
}
