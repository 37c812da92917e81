/// One update of one item (class reference: `LSItemUpdate`): a value, complete in itself.
public struct ItemUpdate: Sendable, Equatable {
    /// Names and positions, shared with the other updates of the subscription.
    public let layout: SubscriptionLayout
    /// The 1-based position of the item.
    public let itemPos: Int
    /// Whether the update is part of the item's snapshot.
    public let isSnapshot: Bool
    /// The values of all fields known now: first-level ones, then, where the key's second level has sent something,
    /// second-level ones.
    public let values: [String?]
    /// The positions of the fields that this update changed.
    public let changed: FieldSet
    /// The JSON Patches that the server sent, by position; `[]` for a field held as JSON and unchanged.
    public let patches: [Int: String]
    /// COMMAND only: the item's row as the server sent it, whatever key: the command not rewritten, and the fields of a
    /// `DELETE` not blanked. Nil in other modes and for second-level updates. Not part of equality.
    package let itemRow: [String?]?

    /// An update.
    public init(
        layout: SubscriptionLayout,
        itemPos: Int,
        isSnapshot: Bool,
        values: [String?],
        changed: FieldSet,
        patches: [Int: String] = [:]
    ) {
        self.init(
            layout: layout,
            itemPos: itemPos,
            isSnapshot: isSnapshot,
            values: values,
            changed: changed,
            patches: patches,
            itemRow: nil
        )
    }

    /// An update that also carries the row it was made of.
    package init(
        layout: SubscriptionLayout,
        itemPos: Int,
        isSnapshot: Bool,
        values: [String?],
        changed: FieldSet,
        patches: [Int: String] = [:],
        itemRow: [String?]?
    ) {
        self.layout = layout
        self.itemPos = itemPos
        self.isSnapshot = isSnapshot
        self.values = values
        self.changed = changed
        self.patches = patches
        self.itemRow = itemRow
    }

    /// Updates are equal when all that the user can see of them is equal.
    public static func == (left: ItemUpdate, right: ItemUpdate) -> Bool {
        left.itemPos == right.itemPos && left.isSnapshot == right.isSnapshot && left.changed == right.changed
            && left.values == right.values && left.patches == right.patches && left.layout == right.layout
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
