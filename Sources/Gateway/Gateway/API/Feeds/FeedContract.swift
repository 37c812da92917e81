internal import JSONText
internal import Primitives
internal import StreamIO

/// The contract of a running gateway: openapi.yaml with an operation and a titled schema for each feed.
final class FeedContract: Sendable {
    private struct Kept {
        let feeds: [FeedConfiguration]
        let bytes: SharedBytes
        let tag: EntityTag
    }

    private let documents = RankedMutex<[ContractEdition: Kept]>([:])

    /// The document with these feeds if it was made before; nil: to make it takes long.
    func kept(_ feeds: [FeedConfiguration], _ edition: ContractEdition) -> (bytes: SharedBytes, tag: EntityTag)? {
        if feeds.isEmpty, edition == .current { return ContractJSON.isReady ? ContractJSON.document : nil }
        guard let kept = documents.withLock({ $0[edition] }), kept.feeds == feeds else { return nil }
        return (kept.bytes, kept.tag)
    }

    /// The document with these feeds as JSON; kept until it is requested with others.
    func document(
        _ feeds: [FeedConfiguration],
        _ edition: ContractEdition = .current
    ) -> (bytes: SharedBytes, tag: EntityTag) {
        if let kept = kept(feeds, edition) { return kept }
        let plain = ContractJSON.document
        if feeds.isEmpty, edition == .current { return plain }
        guard let root = (try? JSONValue(parsing: plain.bytes.array))?.object else { return plain }
        var json = JSONBytes()
        json.value(edition.converted(.object(Self.extended(root, feeds))))
        json.newline()
        let made = Kept(feeds: feeds, bytes: SharedBytes(json.bytes), tag: EntityTag(of: json.bytes))
        documents.withLock { $0[edition] = made }
        return (made.bytes, made.tag)
    }

    private static func extended(_ root: JSONObject, _ feeds: [FeedConfiguration]) -> JSONObject {
        var root = root
        var paths = root["paths"]?.object ?? JSONObject()
        var components = root["components"]?.object ?? JSONObject()
        var schemas = components["schemas"]?.object ?? JSONObject()
        for (feed, type) in zip(feeds, feeds.typeNames) {
            let path = "/feeds/\(PercentDecoding.encode(feed.name))"
            let row: JSONValue = ["$ref": .string("#/components/schemas/\(type)Row")]
            let item = feed.mode == .command ? table(of: row) : row
            if !feed.items.isEmpty {
                let general = paths["/feeds/{feed}"]
                paths[path] = operation("read\(type)", of: feed, isItem: false, schema: table(of: item), like: general)
            }
            let general = paths["/feeds/{feed}/{item}"]
            paths[path + "/{item}"] = operation("read\(type)Item", of: feed, isItem: true, schema: item, like: general)
            let view = FeedView(feed: feed, upstream: nil)
            schemas["\(type)Row"] = view.schema(isDocument: false)
            schemas["\(type)Update"] = view.eventSchema(isDocument: false)
        }
        components["schemas"] = .object(schemas)
        root["components"] = .object(components)
        root["paths"] = .object(paths)
        return root
    }

    /// The schema of an object whose members have a schema.
    private static func table(of member: JSONValue) -> JSONValue {
        ["type": "object", "additionalProperties": member]
    }

    /// A path with one operation that reads values of a feed: the operation for any feed, with the schema of the feed.
    private static func operation(
        _ name: String,
        of feed: FeedConfiguration,
        isItem: Bool,
        schema: JSONValue,
        like general: JSONValue?
    ) -> JSONValue {
        var operation = general?["get"]?.object ?? JSONObject()
        operation["operationId"] = .string(name)
        let part = isItem ? "an item" : "all items"
        operation["summary"] = .string("Read \(part) of the feed \(feed.title ?? feed.name).")
        operation["description"] = feed.description.map(JSONValue.string)
        var responses = operation["responses"]?.object ?? JSONObject()
        var values = responses["200"]?.object ?? JSONObject()
        var content = values["content"]?.object ?? JSONObject()
        for type in content { content[type.name] = .object(withoutExamples(type.value)) }
        content["application/json"] = ["schema": schema]
        values["content"] = .object(content)
        responses["200"] = .object(values)
        operation["responses"] = .object(responses)
        if !isItem { return ["get": .object(operation)] }
        return ["parameters": [["$ref": "#/components/parameters/FeedItem"]], "get": .object(operation)]
    }

    /// A representation without its examples, which are of another feed.
    private static func withoutExamples(_ representation: JSONValue) -> JSONObject {
        var object = representation.object ?? JSONObject()
        object["examples"] = nil
        return object
    }
}

extension Services {
    /// The feeds that pages without credentials show: all of them where callers need none, else the public ones.
    var openFeeds: [FeedConfiguration] {
        let isOpen = access.policy.isOpen
        return configuration.feeds.filter { isOpen || $0.isPublic }
    }
}
