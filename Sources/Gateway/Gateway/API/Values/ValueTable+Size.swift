internal import SessionCore

extension ValueTable {
    /// From this number of values on, the background queue writes the table, which takes about 10 ms.
    private static let largeCount = 50_000

    /// From this weight on, in bytes, the background queue writes the table, whatever the number of values.
    private static let largeWeight = 1 << 20

    /// Whether the background queue writes the table.
    var isLarge: Bool {
        if weight > Self.largeWeight { return true }
        return cellCount > Self.largeCount
    }

    /// Whether the background queue writes an item of a large table.
    func isLarge(item: Int) -> Bool {
        cellCount(item: item) > Self.largeCount || textLength(item: item, upTo: Self.largeWeight) > Self.largeWeight
    }

    /// Whether the background queue writes the row of a key of a large table.
    func isLarge(item: Int, key: String) -> Bool {
        Self.textLength(of: row(item: item, key: key)) > Self.largeWeight
    }

    /// Whether the background queue writes a value of a large table.
    func isLarge(item: Int, field: Int, key: String?) -> Bool {
        let text =
            if let key { value(item: item, key: key, field: field) } else { value(item: item, field: field) }
        return (text?.utf8.count ?? 0) > Self.largeWeight
    }

    /// Whether the values of the table are longer than a number of bytes, so that their JSON is as well.
    func isLonger(than most: Int) -> Bool {
        guard weight > most else { return false }
        var length = 0
        for item in 1...max(itemBound ?? 0, 1) where length <= most { length += textLength(item: item, upTo: most) }
        return length > most
    }

    /// The number of bytes of the values of an item, with the values of all keys; the count ends beyond `most`.
    private func textLength(item: Int, upTo most: Int) -> Int {
        var length = Self.textLength(of: row(item: item))
        guard properties.mode == .command, length <= most else { return length }
        for key in keys(item: item) where length <= most {
            length += key.utf8.count + Self.textLength(of: row(item: item, key: key))
        }
        return length
    }

    private static func textLength(of row: [String?]?) -> Int {
        row?.reduce(0) { $0 + ($1?.utf8.count ?? 0) } ?? 0
    }

    /// The number of values in the table, those of keys included.
    var cellCount: Int {
        cells(inRows: max(itemBound ?? 0, 0) + (properties.mode == .command ? keyCount : 0))
    }

    /// The number of values of an item, those of its keys included.
    func cellCount(item: Int) -> Int {
        cells(inRows: 1 + (properties.mode == .command ? keyCount(item: item) : 0))
    }

    private func cells(inRows rows: Int) -> Int {
        rows.multipliedReportingOverflow(by: max(1, fieldBound ?? 0)).partialValue
    }
}
