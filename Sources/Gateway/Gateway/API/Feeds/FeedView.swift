internal import Changes
internal import JSONText

struct FeedView: Sendable {
    let feed: FeedConfiguration
    let upstream: String?

    /// Writes it; `isWhole`: with the JSON Schema of its rows.
    func write(to json: inout JSONBytes, isWhole: Bool) {
        json.beginObject()
        json.member("name", feed.name)
        json.member("title", feed.title)
        json.member("description", feed.description)
        json.member("upstream", upstream)
        json.member("dataAdapter", feed.dataAdapter)
        json.member("mode", feed.mode.rawValue)
        json.member("selector", feed.selector)
        json.member("requestedSnapshot", feed.snapshot)
        json.member("requestedMaxFrequency", feed.maxFrequency)
        json.member("public", feed.isPublic)
        writeItems(to: &json)
        json.objects("fields", of: feed.fields) { json, field in
            json.member("name", field.name)
            json.member("type", field.type.rawValue)
            json.member("unit", field.unit)
            json.member("description", field.description)
        }
        json.member("url", "/feeds/\(PercentDecoding.encode(feed.name))")
        if isWhole {
            json.key("schema")
            json.value(schema(isDocument: true))
            json.key("eventSchema")
            json.value(eventSchema(isDocument: true))
        }
        json.endObject()
    }

    private func writeItems(to json: inout JSONBytes) {
        if feed.items.isEmpty { return json.member("items", nil as String?) }
        json.objects("items", of: feed.items) { json, item in
            json.member("pattern", item.pattern)
            json.member("description", item.description)
        }
    }

    /// The JSON Schema of a row; `isDocument`: as a document of its own.
    func schema(isDocument: Bool) -> JSONValue {
        .object(JSONObject(title("row", isDocument) + described(feed.description) + row(isWhole: true)))
    }

    /// The JSON Schema of the data of an `update` event; `isDocument`: as a document of its own.
    func eventSchema(isDocument: Bool) -> JSONValue {
        var properties = JSONObject()
        for (name, types) in Self.eventMembers + (feed.mode == .command ? Self.commandMembers : []) {
            properties[name] = ["type": types]
        }
        let (changed, all) = ("The fields that changed.", "All fields, with fieldsSent=all.")
        properties["fields"] = .object(JSONObject(described(changed) + row(isWhole: false)))
        properties["values"] = .object(JSONObject(described(all) + row(isWhole: true)))
        properties["invalid"] = [
            "description": "The fields whose values are not of their types. They are strings.", "type": "array",
            "items": ["enum": fieldNames],
        ]
        let members = [
            Member(name: "type", value: "object"), Member(name: "properties", value: .object(properties)),
            Member(name: "required", value: ["client", "subscription", "item", "itemPos", "snapshot", "fields"]),
        ]
        return .object(JSONObject(title("update", isDocument) + members))
    }

    private typealias Member = JSONObject.Member

    private var fieldNames: JSONValue { .array(feed.fieldNames.map(JSONValue.string)) }

    private func title(_ part: String, _ isDocument: Bool) -> [Member] {
        let edition = Member(name: "$schema", value: "https://json-schema.org/draft/2020-12/schema")
        let title = Member(name: "title", value: .string("\(feed.title ?? feed.name): \(part)"))
        return isDocument ? [edition, title] : [title]
    }

    private func described(_ text: String?) -> [Member] {
        text.map { [Member(name: "description", value: .string($0))] } ?? []
    }

    /// The members of each update, with the types that they may have.
    private static let eventMembers: [(String, JSONValue)] = [
        ("client", ["string", "null"]), ("subscription", ["string"]), ("item", ["string", "null"]),
        ("itemPos", ["integer"]), ("snapshot", ["boolean"]), ("conflated", ["integer"]), ("patches", ["object"]),
    ]
    /// The further members in COMMAND mode.
    private static let commandMembers: [(String, JSONValue)] = [
        ("key", ["string", "null"]), ("command", ["string", "null"]),
    ]

    /// The members of the schema of a row; `isWhole`: of one with all fields.
    private func row(isWhole: Bool) -> [Member] {
        let properties = feed.fields.map { Member(name: $0.name, value: $0.schema) }
        let required = isWhole ? [Member(name: "required", value: fieldNames)] : []
        return [
            Member(name: "type", value: "object"), Member(name: "properties", value: .object(JSONObject(properties))),
        ] + required
    }
}

extension FeedField {
    /// The JSON Schema of a value. A value may be null, and is a string if it is not of its type.
    fileprivate var schema: JSONValue {
        var schema = JSONObject()
        let text = [description, unit.map { "Unit: \($0)." }].compactMap(\.self).joined(separator: " ")
        if !text.isEmpty { schema["description"] = .string(text) }
        switch type {
        case .string: schema["type"] = ["string", "null"]
        case .number: schema["type"] = ["number", "string", "null"]
        case .integer: schema["type"] = ["integer", "string", "null"]
        case .boolean: schema["type"] = ["boolean", "string", "null"]
        case .timestampMilliseconds, .timestampSeconds:
            schema["anyOf"] = [["type": "string", "format": "date-time"], ["type": ["string", "null"]]]
        case .json: break
        }
        return .object(schema)
    }
}
