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
        json.member("type", "object")
        json.key("properties")
        json.beginObject()
        for field in feed.fields {
            json.key(field.name)
            field.writeSchema(to: &json)
        }
        json.endObject()
        json.member("required", Optional(feed.fieldNames))
        json.endObject()
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
            json.member("type", Optional(["string", "null"]))
            json.member("format", "date-time")
        case .json: break
        }
        json.endObject()
    }
}
