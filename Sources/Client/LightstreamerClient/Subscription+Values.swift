internal import SessionCore
internal import TLCP

/// The present values. All getters give nil for a field without a value, before the subscription is subscribed, and
/// once it is inactive. For unknown names and positions out of bounds they throw `unknownItem`, `unknownField` or
/// `outOfBounds`, or give nil with `LightstreamerClient.limitExceptionsUse`. While the size of a group or schema is not
/// known, every position from 1 on gives nil.
extension Subscription {
    /// The last value of a field of an item, by positions.
    public func valueWithItemPos(_ itemPos: Int, fieldPos: Int) throws(ClientError) -> String? {
        try value(.position(itemPos), nil, .position(fieldPos))
    }

    /// The last value of a field by name, of an item by position.
    public func valueWithItemPos(_ itemPos: Int, fieldName: String) throws(ClientError) -> String? {
        try value(.position(itemPos), nil, .name(fieldName))
    }

    /// The last value of a field by position, of an item by name.
    public func valueWithItemName(_ itemName: String, fieldPos: Int) throws(ClientError) -> String? {
        try value(.name(itemName), nil, .position(fieldPos))
    }

    /// The last value of a field of an item, by names.
    public func valueWithItemName(_ itemName: String, fieldName: String) throws(ClientError) -> String? {
        try value(.name(itemName), nil, .name(fieldName))
    }

    /// COMMAND only (else `notCommandMode`): the value of a field of a key, by positions; nil for an absent key.
    public func commandValueWithItemPos(_ itemPos: Int, key: String, fieldPos: Int) throws(ClientError) -> String? {
        try value(.position(itemPos), key, .position(fieldPos))
    }

    /// COMMAND only (else `notCommandMode`): the value of a field by name, of a key; nil for an absent key.
    public func commandValueWithItemPos(_ itemPos: Int, key: String, fieldName: String) throws(ClientError) -> String? {
        try value(.position(itemPos), key, .name(fieldName))
    }

    /// COMMAND only (else `notCommandMode`): the value of a field by position, of a key; nil for an absent key.
    public func commandValueWithItemName(_ itemName: String, key: String, fieldPos: Int) throws(ClientError) -> String?
    {
        try value(.name(itemName), key, .position(fieldPos))
    }

    /// COMMAND only (else `notCommandMode`): the value of a field of a key, by names; nil for an absent key.
    public func commandValueWithItemName(_ itemName: String, key: String, fieldName: String) throws(ClientError)
        -> String?
    {
        try value(.name(itemName), key, .name(fieldName))
    }

    private enum Place {
        case position(Int)
        case name(String)
    }

    private func value(_ item: Place, _ key: String?, _ field: Place) throws(ClientError) -> String? {
        do {
            return try lookUp(item, key, field)
        } catch {
            if LightstreamerClient.limitExceptionsUse { return nil }
            throw error
        }
    }

    private func lookUp(_ item: Place, _ key: String?, _ field: Place) throws(ClientError) -> String? {
        let (properties, table) = state.withLock { ($0.properties, $0.table) }
        if key != nil, properties.mode != .command {
            throw ClientError(.notCommandMode, rule: "only a Subscription in COMMAND mode has keys")
        }
        let itemPos = try Self.position(
            of: item,
            names: properties.items.listedNames,
            bound: table?.itemCount,
            .unknownItem
        )
        let second = properties.secondLevelFields
        var fieldNames = properties.fields.listedNames
        var bound = table?.fieldCount
        if let second {
            // Second-level names follow the first-level ones; with a schema on either level the bound stays open.
            let first = fieldNames?.count ?? bound
            bound = second.names.flatMap { names in first.map { $0 + names.count } }
            if case .name(let name) = field, let index = second.names?.firstIndex(ofName: name),
                fieldNames?.firstIndex(ofName: name) == nil
            {
                return first.flatMap { Self.read(table, itemPos, key, $0 + index + 1) }
            }
            if case .position = field, let names = fieldNames { fieldNames = second.names.map { names + $0 } }
        }
        let fieldPos = try Self.position(of: field, names: fieldNames, bound: bound, .unknownField)
        return Self.read(table, itemPos, key, fieldPos)
    }

    private static func read(_ table: ValueTable?, _ item: Int, _ key: String?, _ field: Int) -> String? {
        guard let table else { return nil }
        return key.map { table.value(item: item, key: $0, field: field) } ?? table.value(item: item, field: field)
    }

    private static func position(
        of place: Place,
        names: [String]?,
        bound: Int?,
        _ unknown: ClientError.Code
    ) throws(ClientError) -> Int {
        let property = unknown == .unknownItem ? "item" : "field"
        switch place {
        case .name(let name):
            if let index = names?.firstIndex(ofName: name) { return index + 1 }
            throw ClientError(unknown, property: property, value: name, rule: "is not a name of this Subscription")
        case .position(let position):
            guard position >= 1, position <= names?.count ?? bound ?? .max else {
                throw ClientError(.outOfBounds, property: property, value: "\(position)", rule: "is out of bounds")
            }
            return position
        }
    }
}
