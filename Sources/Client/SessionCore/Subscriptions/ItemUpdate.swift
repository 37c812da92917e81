public import TLCP

/// One update of one item (class reference: `LSItemUpdate`): a value, complete in itself.
public struct ItemUpdate: Sendable, Equatable {
    /// Names and positions, shared with the other updates of the subscription.
    public let layout: SubscriptionLayout
    /// The 1-based position of the item.
    public let itemPos: Int
    /// Whether the update is part of the item's snapshot.
    public let isSnapshot: Bool
    /// The values of all fields known now: the first-level ones, followed by the second-level ones as soon as the
    /// second level of the key has sent a row.
    public let values: [String?]
    /// The positions of the fields that this update changed.
    public let changed: FieldSet
    /// The JSON Patches that the server sent, by position; `[]` for a field held as JSON and unchanged.
    public let patches: [Int: String]
    /// COMMAND only: the row as the server sent it; in `values` the command is rewritten, and the fields of a `DELETE`
    /// are blanked. Nil in other modes and for second-level updates. Not part of equality.
    package private(set) var itemRow: [String?]?

    /// An update.
    public init(
        layout: SubscriptionLayout,
        itemPos: Int,
        isSnapshot: Bool,
        values: [String?],
        changed: FieldSet,
        patches: [Int: String] = [:]
    ) {
        self.layout = layout
        self.itemPos = itemPos
        self.isSnapshot = isSnapshot
        self.values = values
        self.changed = changed
        self.patches = patches
    }

    /// The update with the row that it was made from.
    package consuming func made(from itemRow: [String?]?) -> ItemUpdate {
        self.itemRow = itemRow
        return self
    }

    /// Compares the parts that are visible to the user.
    public static func == (left: ItemUpdate, right: ItemUpdate) -> Bool {
        left.itemPos == right.itemPos && left.isSnapshot == right.isSnapshot && left.changed == right.changed
            && left.values.differences(from: right.values).isEmpty && left.values.count == right.values.count
            && left.patches == right.patches && left.layout == right.layout
    }

    /// The item's name, nil with an item group.
    public var itemName: String? { layout.itemName(at: itemPos) }

    /// COMMAND only: the key of the row.
    public var key: String? { layout.keyPosition.flatMap { value(at: $0) } }

    /// COMMAND only: `ADD`, `UPDATE` or `DELETE`.
    public var command: String? { layout.commandPosition.flatMap { value(at: $0) } }

    /// The value at a 1-based position; nil for a null value and for a position out of bounds.
    public func value(at position: Int) -> String? {
        values.indices.contains(position &- 1) ? values[position &- 1] : nil
    }
}

extension ItemUpdate: CustomStringConvertible {
    private static let describedFields = 20
    private static let describedLength = 60

    /// The item, whether the update is part of the snapshot, and the changed fields, in COMMAND mode the key before them; the first 20
    /// fields, the first 60 Unicode scalars of each text.
    public var description: String {
        let key = layout.keyPosition.flatMap { changed.contains($0) ? nil : $0 }
        let positions = [key].compactMap { $0 } + changed.positions
        var parts = positions.prefix(Self.describedFields).map { position in
            let name = layout.name(ofField: position).map(Self.cut) ?? "\(position)"
            return "\(name): \(value(at: position).map(Self.cut) ?? "null")"
        }
        if positions.count > parts.count { parts.append("…") }
        let item = itemName.map { "\(Self.cut($0)) (\(itemPos))" } ?? "\(itemPos)"
        return "item \(item), \(isSnapshot ? "snapshot" : "update"): \(parts.joined(separator: ", "))"
    }

    private static func cut(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: describedLength, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return text[..<end] + "…"
    }
}

/// The names of a subscription's items and fields, shared by all of its updates.
public final class SubscriptionLayout: Sendable, Equatable {
    /// Item names in order, nil with an item group.
    public let itemNames: [String]?
    /// First-level field names in order, nil with a field schema.
    public let fieldNames: [String]?
    /// Second-level field names in order, nil with a schema or without a second level.
    public let secondLevelFieldNames: [String]?
    /// Whether there is a second level.
    public let hasSecondLevel: Bool
    /// The number of first-level fields (`SUBOK`/`SUBCMD`).
    public let fieldCount: Int
    /// The 1-based position of the key field, COMMAND only.
    public let keyPosition: Int?
    /// The 1-based position of the command field, COMMAND only.
    public let commandPosition: Int?

    private let positions: [UpstreamName: Int]
    private let secondLevelPositions: [UpstreamName: Int]

    /// A layout. A name that occurs more than once in a list stands for its first position.
    public init(
        itemNames: [String]?,
        fieldNames: [String]?,
        fieldCount: Int,
        keyPosition: Int? = nil,
        commandPosition: Int? = nil,
        secondLevelFieldNames: [String]? = nil,
        hasSecondLevel: Bool = false
    ) {
        self.itemNames = itemNames
        self.fieldNames = fieldNames
        self.fieldCount = fieldCount
        self.keyPosition = keyPosition
        self.commandPosition = commandPosition
        self.secondLevelFieldNames = secondLevelFieldNames
        self.hasSecondLevel = hasSecondLevel
        positions = Self.index(fieldNames)
        secondLevelPositions = Self.index(secondLevelFieldNames)
    }

    private static func index(_ names: [String]?) -> [UpstreamName: Int] {
        guard let names else { return [:] }
        var positions: [UpstreamName: Int] = [:]
        for (index, name) in names.enumerated().reversed() { positions[UpstreamName(name)] = index + 1 }
        return positions
    }

    /// The 1-based position of a field, first level before second; second-level positions follow the first-level ones.
    /// Nil for a name that is in neither list.
    public func position(ofField name: String) -> Int? {
        positions[UpstreamName(name)] ?? secondLevelPositions[UpstreamName(name)].map { fieldCount + $0 }
    }

    /// The name of the field at a 1-based position, where the list of its level is known.
    fileprivate func name(ofField position: Int) -> String? {
        let isSecond = position > fieldCount
        let index = position - 1 - (isSecond ? fieldCount : 0)
        let names = isSecond ? secondLevelFieldNames : fieldNames
        return names.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }

    /// The name of the item at a 1-based position; nil with an item group.
    public func itemName(at position: Int) -> String? {
        guard let itemNames, itemNames.indices.contains(position &- 1) else { return nil }
        return itemNames[position &- 1]
    }

    /// Compares names, counts and positions.
    public static func == (left: SubscriptionLayout, right: SubscriptionLayout) -> Bool {
        left === right
            || (isSame(left.itemNames, right.itemNames) && isSame(left.fieldNames, right.fieldNames)
                && isSame(left.secondLevelFieldNames, right.secondLevelFieldNames)
                && left.hasSecondLevel == right.hasSecondLevel && left.fieldCount == right.fieldCount
                && left.keyPosition == right.keyPosition && left.commandPosition == right.commandPosition)
    }

    private static func isSame(_ left: [String]?, _ right: [String]?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return left.hasSameNames(as: right)
    }
}

extension SubscriptionLayout {
    /// The layout of the updates of a subscription, from the counts and positions that the server has confirmed.
    package convenience init(
        _ properties: SubscriptionProperties,
        fieldCount: Int,
        keyPosition: Int?,
        commandPosition: Int?
    ) {
        self.init(
            itemNames: properties.items.names,
            fieldNames: properties.fields.names,
            fieldCount: fieldCount,
            keyPosition: keyPosition,
            commandPosition: commandPosition,
            secondLevelFieldNames: properties.secondLevelFields?.names,
            hasSecondLevel: properties.secondLevelFields != nil
        )
    }
}
