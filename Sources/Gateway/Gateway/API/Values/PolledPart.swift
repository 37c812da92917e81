internal import Primitives
internal import SessionCore
internal import SessionPool

/// The part of the values that a request selects.
enum ValuesTarget: Sendable {
    case table
    /// An item, with its rows by key.
    case item(Int)
    case keys(Int)
    case key(Int, String)
    case value(Int, field: Int, key: String?)
}

/// The part of the values that a long poll waits for, as the client knows it. The thread of the upstream session asks at
/// each update whether the part is another one, for each poll, so that the answer requires no JSON.
final class PolledPart: Sendable {
    private struct Known: Sendable {
        let target: ValuesTarget
        let mark: Mark
    }

    private let known = RankedMutex<Known?>(nil)

    /// Notes a part whose tag the client knows.
    func note(_ target: ValuesTarget, in view: ValuesView) {
        let present = Known(target: target, mark: Mark(of: target, in: view))
        known.withLock { $0 = present }
    }

    /// Whether the part is the one that was noted last; false if none was. An update of the part with equal values makes it
    /// another one.
    func isKnown(in view: ValuesView) -> Bool {
        guard let known = known.withLock({ $0 }) else { return false }
        return known.mark.isSame(as: Mark(of: known.target, in: view))
    }
}

/// What tells a part of the values from the same part before a change.
private struct Mark: Sendable {
    private let otherEvents: UInt64
    private let isStale: Bool
    /// The version of all values, which is compared if the part has no row that every update of the part replaces.
    private let version: UInt64?
    /// The row that every update of the part replaces.
    private let row: [String?]?

    init(of target: ValuesTarget, in view: ValuesView) {
        let (table, status) = (view.table, view.status)
        otherEvents = status.version &- status.updates
        isStale = view.isStale
        switch target {
        case .key(let item, let key), .value(let item, field: _, key: let key?):
            (version, row) = (nil, table.row(item: item, key: key))
        // The last row of an item is of any key. Updates of the second level leave it as it is.
        case .item(let item), .keys(let item), .value(let item, field: _, key: nil):
            let hasSecondLevel = table.properties.secondLevelFields != nil
            version = hasSecondLevel ? status.version : nil
            row = hasSecondLevel ? nil : table.row(item: item)
        case .table:
            (version, row) = (status.version, nil)
        }
    }

    func isSame(as other: Mark) -> Bool {
        otherEvents == other.otherEvents && isStale == other.isStale && version == other.version
            && Self.place(of: row) == Self.place(of: other.row)
    }

    /// The place of a row in memory. A row is not changed in place, and this mark keeps the memory of its row.
    private static func place(of row: [String?]?) -> UnsafePointer<String?>? {
        row.flatMap { values in values.withUnsafeBufferPointer { $0.baseAddress } }
    }
}
