internal import JSONText

extension Settings {
    /// The JSON Schema of configuration files, for editors.
    package static var jsonSchema: String {
        let root = SchemaNode()
        for setting in all {
            root.add(setting, at: setting.key.split(separator: ".").map(String.init)[...])
            if setting.isSecret { root.addFile(of: setting) }
        }
        var json = JSONBytes()
        json.beginObject()
        json.member("$schema", "https://json-schema.org/draft/2020-12/schema")
        json.member("title", "Configuration of lightstreamer-gateway \(GatewayVersion.text)")
        root.writeMembers(to: &json)
        json.endObject()
        return String(decoding: json.bytes, as: UTF8.self) + "\n"
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

    func write(to json: inout JSONBytes) {
        json.beginObject()
        writeMembers(to: &json)
        json.endObject()
    }

    func writeMembers(to json: inout JSONBytes) {
        if let filePath {
            json.member("type", "string")
            json.member("description", filePath)
        } else if members.isEmpty {
            if let setting { Self.write(setting, to: &json) }
        } else if setting == nil {
            writeObject(to: &json)
        } else {
            // A key that is both a value and a group, such as auth: its members are written with dots or as a mapping.
            json.key("anyOf")
            json.beginArray()
            json.beginObject()
            if let setting { Self.write(setting, to: &json) }
            json.endObject()
            json.beginObject()
            writeObject(to: &json)
            json.endObject()
            json.endArray()
        }
    }

    private func writeObject(to json: inout JSONBytes) {
        json.member("type", "object")
        if let chosen = members["*"] {
            json.key("additionalProperties")
            chosen.write(to: &json)
            return
        }
        json.member("additionalProperties", false)
        json.key("properties")
        json.beginObject()
        for name in names {
            json.key(name)
            members[name]?.write(to: &json)
        }
        json.endObject()
    }

    private static func write(_ setting: Setting, to json: inout JSONBytes) {
        json.member("description", "\(setting.meaning) Default: \(setting.defaultValue).")
        switch setting.type {
        case .integer(let range, _):
            json.member("type", "integer")
            json.member("minimum", range.lowerBound)
            json.member("maximum", range.upperBound)
        case .seconds(let zeroAllowed, let most):
            json.member("type", "number")
            json.key(zeroAllowed ? "minimum" : "exclusiveMinimum")
            json.number(0)
            json.key("maximum")
            json.number(most)
        case .number: write(["number", "string"], to: &json)
        case .flag: json.member("type", "boolean")
        case .choice(let words):
            json.key("enum")
            json.beginArray()
            for word in words { json.string(word) }
            json.endArray()
        case .list:
            write(["array", "string"], to: &json)
            json.key("items")
            json.beginObject()
            write(["string", "number"], to: &json)
            json.endObject()
        case .text: write(["string", "number"], to: &json)
        }
    }

    private static func write(_ types: [String], to json: inout JSONBytes) {
        json.key("type")
        json.beginArray()
        for type in types { json.string(type) }
        json.endArray()
    }
}
