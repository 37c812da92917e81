public import SessionCore

/// Reading by name and by position (class reference: `LSItemUpdate`). For an unknown field name, any name with a field
/// schema, and a position out of bounds, these throw `unknownField` or `outOfBounds`; with
/// `LightstreamerClient.limitExceptionsUse` those of one field give nil or false instead.
extension ItemUpdate {
    /// The value of a field by name, first level before second; nil for a null value and for an unknown name. Never throws.
    public subscript(field: String) -> String? { layout.position(ofField: field).flatMap { value(at: $0) } }

    /// The value of a field by position; nil for a null value.
    public func value(withFieldPos position: Int) throws(ClientError) -> String? {
        try orNil { () throws(ClientError) in value(at: try checked(position)) } ?? nil
    }

    /// The value of a field by name, first level before second; nil for a null value.
    public func value(withFieldName name: String) throws(ClientError) -> String? {
        try orNil { () throws(ClientError) in value(at: try position(name)) } ?? nil
    }

    /// Whether this update changed a field, by position.
    public func isValueChanged(withFieldPos position: Int) throws(ClientError) -> Bool {
        try orNil { () throws(ClientError) in changed.contains(try checked(position)) } ?? false
    }

    /// Whether this update changed a field, by name.
    public func isValueChanged(withFieldName name: String) throws(ClientError) -> Bool {
        try orNil { () throws(ClientError) in changed.contains(try position(name)) } ?? false
    }

    /// The JSON Patch that the server sent for a field, by position; `[]` for a field held as JSON and unchanged; else
    /// nil.
    public func valueAsJSONPatchIfAvailable(withFieldPos position: Int) throws(ClientError) -> String? {
        try orNil { () throws(ClientError) in patches[try checked(position)] } ?? nil
    }

    /// The JSON Patch that the server sent for a field, by name; `[]` for a field held as JSON and unchanged; else nil.
    public func valueAsJSONPatchIfAvailable(withFieldName name: String) throws(ClientError) -> String? {
        try orNil { () throws(ClientError) in patches[try position(name)] } ?? nil
    }

    /// The changed fields by name; a null value is a present nil. As by position, a `DELETE` has none of the second level.
    /// Throws with a field schema.
    public var changedFields: [String: String?] {
        get throws(ClientError) { try named(changedFieldsByPositions) }
    }

    /// All fields by name; a null value is a present nil. Throws with a field schema.
    public var fields: [String: String?] { get throws(ClientError) { try named(fieldsByPositions) } }

    /// The changed fields by position; a null value is a present nil. A `DELETE` has none of the second level, for which
    /// `isValueChanged` is true.
    public var changedFieldsByPositions: [Int: String?] {
        let last = command == "DELETE" ? layout.fieldCount : values.count
        return fieldsByPositions.filter { $0.key <= last && changed.contains($0.key) }
    }

    /// All fields by position; a null value is a present nil.
    public var fieldsByPositions: [Int: String?] {
        Dictionary(uniqueKeysWithValues: values.enumerated().map { ($0 + 1, $1) })
    }

    private func orNil<Value>(_ body: () throws(ClientError) -> Value) throws(ClientError) -> Value? {
        do {
            return try body()
        } catch {
            if LightstreamerClient.limitExceptionsUse { return nil }
            throw error
        }
    }

    private func checked(_ position: Int) throws(ClientError) -> Int {
        // The number of fields of a second-level schema is known only from the received values.
        let second = layout.hasSecondLevel ? layout.secondLevelFieldNames?.count ?? .max - layout.fieldCount : 0
        guard position >= 1, position <= max(values.count, layout.fieldCount + second) else {
            throw ClientError(.outOfBounds, property: "field", value: "\(position)", rule: "is out of bounds")
        }
        return position
    }

    private func position(_ name: String) throws(ClientError) -> Int {
        if let position = layout.position(ofField: name) { return position }
        throw ClientError(.unknownField, property: "field", value: name, rule: "is not a name of this Subscription")
    }

    private func named(_ fields: [Int: String?]) throws(ClientError) -> [String: String?] {
        guard let first = layout.fieldNames, !layout.hasSecondLevel || layout.secondLevelFieldNames != nil else {
            throw ClientError(.unknownField, property: "field", rule: "names are not known with a field schema")
        }
        let names = first + (layout.secondLevelFieldNames ?? [])
        var result: [String: String?] = [:]
        for (position, value) in fields.sorted(by: { $0.key < $1.key }) where names.indices.contains(position - 1) {
            let name = names[position - 1]
            // A name that occurs more than once, also on both levels, stands for its first position, changed or not.
            guard layout.position(ofField: name) == position, result.index(forKey: name) == nil else { continue }
            result[name] = .some(value)
        }
        return result
    }
}
