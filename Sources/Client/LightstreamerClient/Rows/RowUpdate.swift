public import SessionCore

/// One update of one item as a value of the application's type. The members of the row are members of the update:
/// `quote.lastPrice` is `quote.row.lastPrice`.
@dynamicMemberLookup
public struct RowUpdate<Row: Sendable>: Sendable {
    /// The values of all fields known now.
    public let row: Row
    /// The update that the row was made from.
    public let update: ItemUpdate

    /// A member of the row.
    public subscript<Value>(dynamicMember member: KeyPath<Row, Value>) -> Value { row[keyPath: member] }

    /// The name of the item; nil with an item group.
    public var itemName: String? { update.itemName }

    /// Whether the update is part of the item's snapshot.
    public var isSnapshot: Bool { update.isSnapshot }

    /// COMMAND only: the key of the row.
    public var key: String? { update.key }

    /// COMMAND only: `ADD`, `UPDATE` or `DELETE`. A `DELETE` has no values but the key.
    public var command: String? { update.command }
}

extension LightstreamerClient {
    /// The updates of items by name as values of a type, subscribed to for the time of each loop.
    ///
    /// The names of the fields are the coding keys of the type: all cases if its `CodingKeys` are `CaseIterable`, else those
    /// that its `init(from:)` asks for. In COMMAND mode `key` and `command` are added. A member holds a string, a number, a
    /// Boolean (`true` or `false`) or another value that decodes from one of them; it is optional if the field may be null. The
    /// first `next()` throws `ClientError` with `invalidValue` if the names cannot be found out.
    ///
    /// - Parameters:
    ///   - type: The type of the rows.
    ///   - mode: How the items behave.
    ///   - items: The items by name.
    ///   - dataAdapter: The Data Adapter; nil: the server's `DEFAULT`.
    public func updates<Row: Decodable & Sendable>(
        of type: Row.Type,
        mode: SubscriptionMode = .merge,
        items: [String],
        dataAdapter: String? = nil
    ) -> UpdateSequence<RowUpdate<Row>> {
        rows {
            let names = try FieldProbe.fields(of: type)
            let missing = mode == .command ? ["key", "command"].filter { !names.contains($0) } : []
            var properties = SubscriptionProperties(mode: mode, items: .list(items), fields: .list(missing + names))
            properties.dataAdapter = dataAdapter
            return properties
        }
    }

    /// The updates of a subscription with these properties, as values of a type, subscribed to for the time of each loop. The
    /// fields of the properties are a list; the coding keys of the type are among them.
    public func updates<Row: Decodable & Sendable>(
        of type: Row.Type,
        _ properties: SubscriptionProperties
    ) -> UpdateSequence<RowUpdate<Row>> {
        rows { properties }
    }

    private func rows<Row: Decodable & Sendable>(
        _ properties: @escaping @Sendable () throws -> SubscriptionProperties
    ) -> UpdateSequence<RowUpdate<Row>> {
        UpdateSequence(.client(self, { try Subscription(properties: properties()) })) { update in
            RowUpdate(row: try Row(from: RowDecoder(update: update)), update: update)
        }
    }
}
