internal import SessionCore

extension ValueTable {
    /// From this number of values on, the background queue writes the table, which takes about 10 ms.
    private static let largeCount = 50_000

    /// Whether the background queue writes the table.
    var isLarge: Bool { cellCount > Self.largeCount }

    /// Whether the background queue writes an item.
    func isLarge(item: Int) -> Bool { cellCount(item: item) > Self.largeCount }

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
