internal import Changes
internal import JSONText
internal import SessionCore

/// The JSON form of a feed.
struct FeedView: Sendable {
    /// The feed.
    let feed: FeedConfiguration
    /// The name of its upstream.
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
        json.member("public", feed.isPublic)
        writeItems(to: &json)
        json.key("fields")
        json.beginArray()
        for field in feed.fields {
            json.beginObject()
            json.member("name", field.name)
            json.member("type", field.type.rawValue)
            json.member("unit", field.unit)
            json.member("description", field.description)
            json.endObject()
        }
        json.endArray()
        json.member("url", "/feeds/\(PercentDecoding.encode(feed.name))")
        if isWhole {
            json.key("schema")
            writeSchema(to: &json, isDocument: true)
            json.key("eventSchema")
            writeEventSchema(to: &json, isDocument: true)
        }
        json.endObject()
    }

    private func writeItems(to json: inout JSONBytes) {
        json.key("items")
        guard !feed.items.isEmpty else {
            json.null()
            return
        }
        json.beginArray()
        for item in feed.items {
            json.beginObject()
            json.member("pattern", item.pattern)
            json.member("description", item.description)
            json.endObject()
        }
        json.endArray()
    }

    /// Writes the JSON Schema of a row; `isDocument`: as a document of its own.
    func writeSchema(to json: inout JSONBytes, isDocument: Bool) {
        json.beginObject()
        if isDocument { json.member("$schema", "https://json-schema.org/draft/2020-12/schema") }
        json.member("title", "\(feed.title ?? feed.name): row")
        if let description = feed.description { json.member("description", description) }
        writeRow(to: &json, isWhole: true)
        json.endObject()
    }

    /// Writes the JSON Schema of the data of an `update` event; `isDocument`: as a document of its own.
    func writeEventSchema(to json: inout JSONBytes, isDocument: Bool) {
        json.beginObject()
        if isDocument { json.member("$schema", "https://json-schema.org/draft/2020-12/schema") }
        json.member("title", "\(feed.title ?? feed.name): update")
        json.member("type", "object")
        json.key("properties")
        json.beginObject()
        for (name, types) in Self.eventMembers + (feed.mode == .command ? Self.commandMembers : []) {
            json.key(name)
            json.beginObject()
            json.member("type", Optional(types))
            json.endObject()
        }
        for name in ["fields", "values"] {
            json.key(name)
            json.beginObject()
            json.member(
                "description",
                name == "fields" ? "The fields that changed." : "All fields, with fieldsSent=all."
            )
            writeRow(to: &json, isWhole: name == "values")
            json.endObject()
        }
        json.key("invalid")
        json.beginObject()
        json.member("description", "The fields whose values are not of their types. They are strings.")
        json.member("type", "array")
        json.key("items")
        json.beginObject()
        json.member("enum", Optional(feed.fieldNames))
        json.endObject()
        json.endObject()
        json.endObject()
        json.member("required", Optional(["client", "subscription", "item", "itemPos", "snapshot", "fields"]))
        json.endObject()
    }

    /// The members of each update, with the types that they may have.
    private static let eventMembers = [
        ("client", ["string", "null"]), ("subscription", ["string"]), ("item", ["string", "null"]),
        ("itemPos", ["integer"]), ("snapshot", ["boolean"]), ("conflated", ["integer"]), ("patches", ["object"]),
    ]
    /// The further members in COMMAND mode.
    private static let commandMembers = [("key", ["string", "null"]), ("command", ["string", "null"])]

    /// Writes the members of the schema of a row; `isWhole`: of one with all fields.
    private func writeRow(to json: inout JSONBytes, isWhole: Bool) {
        json.member("type", "object")
        json.key("properties")
        json.beginObject()
        for field in feed.fields {
            json.key(field.name)
            field.writeSchema(to: &json)
        }
        json.endObject()
        if isWhole { json.member("required", Optional(feed.fieldNames)) }
    }
}

extension FeedField {
    /// Writes the JSON Schema of a value. A value may be null, and is a string if it is not of its type.
    fileprivate func writeSchema(to json: inout JSONBytes) {
        json.beginObject()
        let text = [description, unit.map { "Unit: \($0)." }].compactMap(\.self).joined(separator: " ")
        if !text.isEmpty { json.member("description", text) }
        switch type {
        case .string: json.member("type", Optional(["string", "null"]))
        case .number: json.member("type", Optional(["number", "string", "null"]))
        case .integer: json.member("type", Optional(["integer", "string", "null"]))
        case .boolean: json.member("type", Optional(["boolean", "string", "null"]))
        case .timestampMilliseconds, .timestampSeconds:
            json.key("anyOf")
            json.beginArray()
            json.beginObject()
            json.member("type", "string")
            json.member("format", "date-time")
            json.endObject()
            json.beginObject()
            json.member("type", Optional(["string", "null"]))
            json.endObject()
            json.endArray()
        case .json: break
        }
        json.endObject()
    }
}
