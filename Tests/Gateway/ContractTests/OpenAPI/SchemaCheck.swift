import JSONText

/// Checks values against the part of JSON Schema 2020-12 that openapi.yaml uses.
struct SchemaCheck {
    let contract: OpenAPIDocument

    /// The violations of a value; empty for a valid one.
    func faults(of value: JSONValue, by schema: JSONValue, at place: String = "") -> [String] {
        if let always = schema.bool { return always ? [] : ["\(place): not allowed"] }
        var faults: [String] = []
        if let rules = schema["x-rules"] { faults += self.faults(of: value, by: rules, at: place) }
        if schema["$ref"] != nil { faults += self.faults(of: value, by: contract.resolve(schema), at: place) }
        faults += typeFaults(value, schema, place)
        faults += scalarFaults(value, schema, place)
        faults += combinationFaults(value, schema, place)
        if let object = value.object { faults += objectFaults(object, schema, place) }
        if let array = value.array { faults += arrayFaults(array, schema, place) }
        return faults
    }

    private func typeFaults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        guard let type = schema["type"] else { return [] }
        let types = type.array?.compactMap(\.string) ?? [type.string ?? ""]
        return types.contains { has(value, $0) } ? [] : ["\(place): is not \(types.joined(separator: " or "))"]
    }

    private func has(_ value: JSONValue, _ type: String) -> Bool {
        switch (type, value) {
        case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array), ("object", .object),
            ("number", .number):
            true
        case ("integer", .number(let number)): number.doubleValue.map { $0.rounded() == $0 } ?? false
        default: false
        }
    }

    private func scalarFaults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        var faults: [String] = []
        if let constant = schema["const"], !constant.isEquivalent(to: value) {
            faults.append("\(place): is not the constant")
        }
        if let values = schema["enum"]?.array, !values.contains(where: { $0.isEquivalent(to: value) }) {
            faults.append("\(place): is none of the values")
        }
        if let number = value.number?.doubleValue {
            if let bound = schema["minimum"]?.number?.doubleValue, number < bound {
                faults.append("\(place): too small")
            }
            if let bound = schema["maximum"]?.number?.doubleValue, number > bound {
                faults.append("\(place): too large")
            }
            if let bound = schema["exclusiveMinimum"]?.number?.doubleValue, number <= bound {
                faults.append("\(place): too small")
            }
        }
        if let text = value.string {
            if let least = schema["minLength"]?.number?.intValue, text.unicodeScalars.count < least {
                faults.append("\(place): too short")
            }
            if let pattern = schema["pattern"]?.string, !matches(text, pattern) {
                faults.append("\(place): does not match \(pattern)")
            }
        }
        return faults
    }

    private func matches(_ text: String, _ pattern: String) -> Bool {
        guard let expression = try? Regex(pattern) else { return false }
        return text.firstMatch(of: expression) != nil
    }

    private func combinationFaults(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        var faults: [String] = []
        for part in schema["allOf"]?.array ?? [] { faults += self.faults(of: value, by: part, at: place) }
        let valid = { (parts: [JSONValue]) in parts.count { self.faults(of: value, by: $0, at: place).isEmpty } }
        if let parts = schema["anyOf"]?.array, valid(parts) == 0 { faults.append("\(place): fits none of anyOf") }
        if let parts = schema["oneOf"]?.array, valid(parts) != 1 {
            faults.append("\(place): fits \(valid(parts)) of oneOf")
        }
        if let part = schema["not"], self.faults(of: value, by: part, at: place).isEmpty {
            faults.append("\(place): fits what it must not")
        }
        return faults
    }

    private func objectFaults(_ object: JSONObject, _ schema: JSONValue, _ place: String) -> [String] {
        var faults: [String] = []
        for name in schema["required"]?.array ?? [] where object[name.string ?? ""] == nil {
            faults.append("\(place): \(name.string ?? "") is missing")
        }
        let properties = schema["properties"]?.object ?? JSONObject()
        for member in object {
            if let part = properties[member.name] {
                faults += self.faults(of: member.value, by: part, at: "\(place)/\(member.name)")
            } else if let part = schema["additionalProperties"] {
                faults += self.faults(of: member.value, by: part, at: "\(place)/\(member.name)")
            }
            if let part = schema["propertyNames"] {
                faults += self.faults(of: .string(member.name), by: part, at: "\(place)/\(member.name)")
            }
        }
        return faults
    }

    private func arrayFaults(_ array: [JSONValue], _ schema: JSONValue, _ place: String) -> [String] {
        var faults: [String] = []
        if let least = schema["minItems"]?.number?.intValue, array.count < least {
            faults.append("\(place): too short")
        }
        if let part = schema["items"] {
            for (index, element) in array.enumerated() {
                faults += self.faults(of: element, by: part, at: "\(place)/\(index)")
            }
        }
        if let part = schema["contains"], !array.contains(where: { self.faults(of: $0, by: part, at: place).isEmpty }) {
            faults.append("\(place): does not contain what it must")
        }
        return faults
    }
}
