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

    private let positions: [String: Int]
    private let secondLevelPositions: [String: Int]

    /// A layout; where a name stands twice in a list its first position wins.
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

    private static func index(_ names: [String]?) -> [String: Int] {
        Dictionary((names ?? []).enumerated().map { ($1, $0 + 1) }, uniquingKeysWith: { first, _ in first })
    }

    /// The 1-based position of a field, first level before second; second-level positions follow the first-level
    /// ones. Nil for a name that no list holds.
    public func position(ofField name: String) -> Int? {
        positions[name] ?? secondLevelPositions[name].map { fieldCount + $0 }
    }

    /// The name of the item at a 1-based position; nil with an item group.
    public func itemName(at position: Int) -> String? {
        guard let itemNames, itemNames.indices.contains(position &- 1) else { return nil }
        return itemNames[position &- 1]
    }

    /// Layouts are equal when all that they say is equal.
    public static func == (left: SubscriptionLayout, right: SubscriptionLayout) -> Bool {
        left === right
            || (left.itemNames == right.itemNames && left.fieldNames == right.fieldNames
                && left.secondLevelFieldNames == right.secondLevelFieldNames
                && left.hasSecondLevel == right.hasSecondLevel && left.fieldCount == right.fieldCount
                && left.keyPosition == right.keyPosition && left.commandPosition == right.commandPosition)
    }
}
