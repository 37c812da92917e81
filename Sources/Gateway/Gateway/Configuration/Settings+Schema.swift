internal import JSONText

extension Settings {
    /// The JSON Schema of configuration files, for editors.
    package static var jsonSchema: String {
        let root = SchemaNode()
        for setting in all {
            root.add(setting, at: setting.key.split(separator: ".").map(String.init)[...])
            if setting.isSecret { root.addFile(of: setting) }
        }
        let title = "Configuration of lightstreamer-gateway \(GatewayVersion.text)"
        let head: JSONValue = ["$schema": "https://json-schema.org/draft/2020-12/schema", "title": .string(title)]
        let members = [head, root.schema].flatMap { $0.object?.map(\.self) ?? [] }
        return JSONValue.object(JSONObject(members)).text + "\n"
    }
}

/// An object of the schema with its members, or a value.
private final class SchemaNode {
    private var names: [String] = []
    private var members: [String: SchemaNode] = [:]
    private var setting: Setting?
    private var filePath: String?

    func add(_ setting: Setting, at path: ArraySlice<String>) {
        guard let name = path.first else {
            self.setting = setting
            return
        }
        member(name).add(setting, at: path.dropFirst())
    }

    func addFile(of setting: Setting) {
        let path = setting.key.split(separator: ".").map(String.init)
        guard let name = path.last else { return }
        let parent = path.dropLast().reduce(self) { $0.member($1) }
        parent.member(name + "File").filePath = "A file that holds \(setting.key)."
    }

    private func member(_ name: String) -> SchemaNode {
        if let member = members[name] { return member }
        let member = SchemaNode()
        members[name] = member
        names.append(name)
        return member
    }

    var schema: JSONValue {
        if let filePath { return ["type": "string", "description": .string(filePath)] }
        guard let setting else { return object }
        if members.isEmpty { return setting.schema }
        // A key that is both a value and a group, such as auth: its members are written with dots or as a mapping.
        return ["anyOf": [setting.schema, object]]
    }

    private var object: JSONValue {
        if let chosen = members["*"] { return ["type": "object", "additionalProperties": chosen.schema] }
        let properties = names.compactMap { name in
            members[name].map { JSONObject.Member(name: name, value: $0.schema) }
        }
        return ["type": "object", "additionalProperties": false, "properties": .object(JSONObject(properties))]
    }
}

extension Setting {
    fileprivate var schema: JSONValue {
        let description = JSONValue.string("\(meaning) Default: \(defaultValue).")
        switch type {
        case .integer(let range, _):
            return [
                "description": description, "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
                "maximum": .number(JSONNumber(range.upperBound)),
            ]
        case .seconds(let zeroAllowed, let most):
            let least = zeroAllowed ? "minimum" : "exclusiveMinimum"
            let greatest = JSONNumber("\(most)").map(JSONValue.number) ?? .null
            return ["description": description, "type": "number", least: 0, "maximum": greatest]
        case .number: return ["description": description, "type": ["number", "string"]]
        case .flag: return ["description": description, "type": "boolean"]
        case .choice(let words): return ["description": description, "enum": .array(words.map(JSONValue.string))]
        case .list, .lines:
            let element: JSONValue = ["type": ["string", "number"]]
            return ["description": description, "type": ["array", "string"], "items": element]
        case .text: return ["description": description, "type": ["string", "number"]]
        }
    }
}
