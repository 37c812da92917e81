internal import JSONText
internal import SessionCore
internal import SessionPool

/// The JSON forms of the values of a subscription at one moment.
struct ValuesView {
    /// The id of the subscription.
    let subscription: String
    /// The values.
    let reading: SubscriptionReading
    /// The time that ages refer to.
    let now: Moment

    private var table: ValueTable { reading.table }

    /// A view of a resource's values.
    init(_ resource: SubscriptionResource, now: Moment) {
        self.init(subscription: resource.id.rawValue, reading: resource.reading, now: now)
    }

    /// A view of a reading.
    init(subscription: String, reading: SubscriptionReading, now: Moment) {
        self.subscription = subscription
        self.reading = reading
        self.now = now
    }

    /// The staleness as a part of entity tags.
    var staleness: String { reading.isStale ? "s" : "f" }

    /// Whether the mode is COMMAND.
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

    /// Rejects an unknown key of an item, and any key in modes other than COMMAND.
    func check(key: String, item: Int) throws(Problem) {
        try checkCommand()
        guard table.row(item: item, key: key) != nil else {
            throw Problem(.unknownKey, detail: "The item has no key \"\(key)\".")
        }
    }

    /// Rejects modes other than COMMAND.
    func checkCommand() throws(Problem) {
        guard isCommand else {
            throw Problem(.notCommandMode, detail: "The mode is \(table.properties.mode.rawValue); it has no keys.")
        }
    }

    private static func position(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.count <= 9, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text).flatMap { $0 >= 1 ? $0 : nil }
    }

    // MARK: - Values

    /// One value; nil if there is none.
    func value(item: Int, field: Int, key: String? = nil) -> String? {
        guard let key else { return table.value(item: item, field: field) }
        return table.value(item: item, key: key, field: field)
    }

    /// The capacity that the JSON of most items does not exceed, in bytes.
    static let usualPartBytes = 512

    /// The longest JSON of a table, in bytes.
    static let mostTableBytes = 64 << 20

    /// Writes the whole table; stops after `mostTableBytes`.
    func writeTable(to json: inout JSONBytes) {
        json.beginObject()
        json.member("subscription", subscription)
        json.key("items")
        json.beginArray()
        let members = ItemMembers(self)
        for item in 0..<max(table.itemBound ?? 0, 0) where json.bytes.count <= Self.mostTableBytes {
            json.beginObject()
            members.write(item + 1, to: &json)
            writeAge(item + 1, to: &json)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }

    /// The number of bytes that the ages add to the JSON of the table.
    var agesLength: Int {
        // As `writeAge` writes it, after another member.
        let names = #","age":,"stale":"#.utf8.count + (reading.isStale ? "true" : "false").utf8.count
        return (0..<max(table.itemBound ?? 0, 0)).reduce(0) { length, item in
            length + names + (age(item + 1).map(JSONBytes.length(ofThousandths:)) ?? "null".utf8.count)
        }
    }

    /// Writes the members of one item, without its age.
    func writeMembers(of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        ItemMembers(self).write(item, to: &json)
    }

    /// Writes the list of an item's keys.
    func writeKeys(of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        ItemMembers(self).writeName(item, to: &json)
        json.member("keys", Optional(table.keys(item: item)))
    }

    /// Writes the row of a key.
    func writeKey(_ key: String, of item: Int, to json: inout JSONBytes) {
        json.member("subscription", subscription)
        let members = ItemMembers(self)
        members.writeName(item, to: &json)
        json.member("key", key)
        json.key("fields")
        members.writeFields(of: table.row(item: item, key: key), to: &json)
    }

    /// Writes the members that differ between readings of equal values.
    func writeAge(_ item: Int, to json: inout JSONBytes) {
        json.key("age")
        if let age = age(item) { json.number(thousandths: age) } else { json.null() }
        json.member("stale", reading.isStale)
    }

    /// The age of an item in milliseconds, rounded; nil without data.
    private func age(_ item: Int) -> Int? {
        guard let changedAt = table.changedAt(item: item) else { return nil }
        let nanoseconds = max(0, now.nanoseconds &- changedAt.nanoseconds)
        return Int(nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 >= 500_000 ? 1 : 0))
    }

    /// The capacity that the JSON of most tables does not exceed, in bytes.
    var usualTableBytes: Int {
        let items = min(max(table.itemBound ?? 0, 0), 4096)
        let fields = min(max(table.fieldBound ?? 0, 0), 256)
        return min(256 + items * (64 + fields * 32), Self.mostReservedBytes)
    }

    private static let mostReservedBytes = 1 << 20
}

/// Writes the members of items; determines once what all items have in common.
private struct ItemMembers {
    private let view: ValuesView
    private let table: ValueTable
    private let names: [String]
    private let fieldKeys: JSONKeys
    private let isCommand: Bool

    init(_ view: ValuesView) {
        self.view = view
        table = view.reading.table
        isCommand = view.isCommand
        names = table.properties.items.names ?? []
        let labels = FieldLabels(table.properties)
        let count = max(0, table.fieldBound ?? 0)
        fieldKeys = JSONKeys((0..<count).map { labels.label($0 + 1) })
    }

    func write(_ item: Int, to json: inout JSONBytes) {
        writeName(item, to: &json)
        json.key("fields")
        writeFields(of: table.row(item: item), to: &json)
        if isCommand {
            json.key("keys")
            json.beginObject()
            for key in table.keys(item: item) {
                json.key(key)
                writeFields(of: table.row(item: item, key: key), to: &json)
            }
            json.endObject()
        }
    }

    func writeName(_ item: Int, to json: inout JSONBytes) {
        json.member("item", names.indices.contains(item - 1) ? names[item - 1] : nil)
        json.member("itemPos", item)
    }

    /// Writes all fields of a row; for an item without data, all first-level fields as null.
    func writeFields(of row: [String?]?, to json: inout JSONBytes) {
        json.beginObject()
        let count = row?.count ?? table.properties.fields.names?.count ?? table.fieldCount ?? 0
        for index in 0..<max(count, 0) {
            if index < fieldKeys.count { json.key(index, of: fieldKeys) } else { json.key("\(index + 1)") }
            json.string(row?[index])
        }
        json.endObject()
    }
}

extension Duration {
    /// Seconds with three decimals; not below 0.
    var roundedSeconds: Double {
        let (seconds, attoseconds) = components
        return max((Double(seconds) * 1000 + Double(attoseconds) / 1e15).rounded() / 1000, 0)
    }
}

/// The keys of fields in JSON: names if both levels have lists and no name occurs twice in both lists together, else
/// positions as decimal strings. Streams follow the same rule.
struct FieldLabels: Sendable {
    private let names: [String]?

    /// The keys for a subscription.
    init(_ properties: SubscriptionProperties) {
        guard var names = properties.fields.names else {
            self.names = nil
            return
        }
        if let second = properties.secondLevelFields {
            guard let secondNames = second.names else {
                self.names = nil
                return
            }
            names += secondNames
        }
        self.names = names.hasDuplicates ? nil : names
    }

    /// The key of the field at a 1-based position.
    func label(_ position: Int) -> String {
        guard let names, names.indices.contains(position - 1) else { return "\(position)" }
        return names[position - 1]
    }
}

extension [String] {
    /// Up to this number of names, comparison of all pairs is faster than a set.
    private static var shortLength: Int { 16 }

    fileprivate var hasDuplicates: Bool {
        if count > Self.shortLength { return Set(self).count < count }
        return indices.contains { self[..<$0].contains(self[$0]) }
    }
}
