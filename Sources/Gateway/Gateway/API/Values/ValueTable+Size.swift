internal import SessionCore

extension ValueTable {
    /// From these numbers of values on, writing them is medium and large work: it takes about 0.5 and 10 ms.
    private static let counts = (medium: 2_500, large: 50_000)

    /// From this number of bytes on, writing values is large work, whatever the number of values.
    private static let largeLength = 1 << 20

    /// How long it takes to write the table.
    var writing: WorkSize { Self.writing(cellCount, weight) }

    /// How long it takes to write an item.
    func writing(item: Int) -> WorkSize {
        let length = weight > Self.largeLength ? textLength(item: item, upTo: Self.largeLength) : 0
        return Self.writing(cellCount(item: item), length)
    }

    /// How long it takes to write the row of a key.
    func writing(item: Int, key: String) -> WorkSize {
        Self.writing(0, Self.textLength(of: row(item: item, key: key)))
    }

    /// How long it takes to write a value.
    func writing(item: Int, field: Int, key: String?) -> WorkSize {
        let text =
            if let key { value(item: item, key: key, field: field) } else { value(item: item, field: field) }
        return Self.writing(0, text?.utf8.count ?? 0)
    }

    private static func writing(_ count: Int, _ length: Int) -> WorkSize {
        if count > counts.large || length > largeLength { return .large }
        return count > counts.medium ? .medium : .small
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

    private static func textLength(of row: [String?]?) -> Int { row?.reduce(0) { $0 + ($1?.utf8.count ?? 0) } ?? 0 }

    /// The number of values in the table, those of keys included.
    var cellCount: Int { cells(inRows: max(itemBound ?? 0, 0) + (properties.mode == .command ? keyCount : 0)) }

    /// The number of values of an item, those of its keys included.
    func cellCount(item: Int) -> Int { cells(inRows: 1 + (properties.mode == .command ? keyCount(item: item) : 0)) }

    private func cells(inRows rows: Int) -> Int {
        rows.multipliedReportingOverflow(by: max(1, fieldBound ?? 0)).partialValue
    }
}
