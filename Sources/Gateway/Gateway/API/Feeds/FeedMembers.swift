internal import JSONText
internal import SessionCore

extension SourceDefaults {
    /// The members of a source that names a feed, with those that follow from the feed; nil after an error.
    func expanded(_ reader: ObjectReader) -> JSONObject? {
        guard let name = reader.name("feed") else { return nil }
        guard let feed = feed(name) else {
            let rule = "There is no feed \"\(name)\".\(SimilarNames.hint(for: name, among: feedNames))"
            reader.refusals.refuse(reader.path + ["feed"], as: .unknownFeed, rule)
            return nil
        }
        for member in Self.determined where reader.has(member) {
            reader.refuse(member, "The feed determines it.")
        }
        var object = reader.object
        object["feed"] = nil
        object["mode"] = .string(feed.mode.rawValue)
        if let upstream = feed.upstream { object["upstream"] = .string(upstream) }
        if let adapter = feed.dataAdapter { object["dataAdapter"] = .string(adapter) }
        if let selector = feed.selector { object["selector"] = .string(selector) }
        if object["requestedSnapshot"] == nil { object["requestedSnapshot"] = feed.snapshot?.json }
        if object["requestedMaxFrequency"] == nil { object["requestedMaxFrequency"] = feed.maxFrequency?.json }
        if object["fields"] == nil { object["fields"] = .array(feed.fieldNames.map { .string($0) }) }
        if object["items"] == nil, let items = feed.itemNames { object["items"] = .array(items.map { .string($0) }) }
        checkNames(object, of: feed, reader)
        return object
    }

    private static let determined = [
        "upstream", "dataAdapter", "mode", "selector", "itemGroup", "fieldSchema", "commandSecondLevelFields",
        "commandSecondLevelFieldSchema", "commandSecondLevelDataAdapter",
    ]

    private func checkNames(_ object: JSONObject, of feed: FeedConfiguration, _ reader: ObjectReader) {
        refuse("items", of: object, reader, as: .unknownItem, "item", similarTo: []) { feed.has(item: $0) }
        refuse("fields", of: object, reader, as: .unknownField, "field", similarTo: feed.fieldNames) {
            feed.field($0) != nil
        }
    }

    /// Refuses each name of a list that the feed does not have.
    private func refuse(
        _ list: String,
        of object: JSONObject,
        _ reader: ObjectReader,
        as code: ProblemCode,
        _ kind: String,
        similarTo known: [String],
        unless isKnown: (String) -> Bool
    ) {
        for (index, element) in (object[list]?.array ?? []).enumerated() {
            if reader.refusals.isFull { return }
            guard let name = element.string, !isKnown(name) else { continue }
            let rule = "The feed has no \(kind) \"\(name)\".\(SimilarNames.hint(for: name, among: known))"
            reader.refusals.refuse(reader.path + [list, "\(index)"], as: code, rule)
        }
    }
}
