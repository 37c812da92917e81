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

    private let kept = RankedMutex<[ContractEdition: Kept]>([:])

    /// The document with these feeds as JSON; kept until it is requested with others.
    func document(
        _ feeds: [FeedConfiguration],
        _ edition: ContractEdition = .current
    ) -> (bytes: SharedBytes, tag: EntityTag) {
        let plain = ContractJSON.document
        if feeds.isEmpty, edition == .current { return plain }
        if let kept = kept.withLock({ $0[edition] }), kept.feeds == feeds { return (kept.bytes, kept.tag) }
        guard let root = (try? JSONValue(parsing: Array(plain.bytes.bytes)))?.object else { return plain }
        var json = JSONBytes()
        json.value(edition.converted(.object(Self.extended(root, feeds))))
        json.newline()
        let made = Kept(feeds: feeds, bytes: SharedBytes(json.bytes), tag: EntityTag(of: json.bytes))
        kept.withLock { $0[edition] = made }
        return (made.bytes, made.tag)
    }

    private static func extended(_ root: JSONObject, _ feeds: [FeedConfiguration]) -> JSONObject {
        var root = root
        var paths = root["paths"]?.object ?? JSONObject()
        var components = root["components"]?.object ?? JSONObject()
        var schemas = components["schemas"]?.object ?? JSONObject()
        for (feed, type) in zip(feeds, feeds.typeNames) {
            let path = "/feeds/\(PercentDecoding.encode(feed.name))"
            let row = JSONObject([.init(name: "$ref", value: .string("#/components/schemas/\(type)Row"))])
            let item = feed.mode == .command ? table(of: row) : row
            if !feed.items.isEmpty {
                paths[path] = operation("read\(type)", of: feed, isItem: false, schema: table(of: item))
            }
            paths[path + "/{item}"] = operation("read\(type)Item", of: feed, isItem: true, schema: item)
            var schema = JSONBytes()
            FeedView(feed: feed, upstream: nil).writeSchema(to: &schema, isDocument: false)
            schemas["\(type)Row"] = try? JSONValue(parsing: schema.bytes)
            schema.reset()
            FeedView(feed: feed, upstream: nil).writeEventSchema(to: &schema, isDocument: false)
            schemas["\(type)Update"] = try? JSONValue(parsing: schema.bytes)
        }
        components["schemas"] = .object(schemas)
        root["components"] = .object(components)
        root["paths"] = .object(paths)
        return root
    }

    /// The schema of an object whose members have a schema.
    private static func table(of member: JSONObject) -> JSONObject {
        JSONObject([
            .init(name: "type", value: .string("object")), .init(name: "additionalProperties", value: .object(member)),
        ])
    }

    /// A path with one operation that reads values of a feed.
    private static func operation(
        _ name: String,
        of feed: FeedConfiguration,
        isItem: Bool,
        schema: JSONObject
    ) -> JSONValue {
        var json = JSONBytes()
        json.beginObject()
        if isItem {
            json.key("parameters")
            json.beginArray()
            json.beginObject()
            json.member("$ref", "#/components/parameters/FeedItem")
            json.endObject()
            json.endArray()
        }
        json.key("get")
        json.beginObject()
        json.member("operationId", name)
        json.member("tags", Optional(["values"]))
        json.member(
            "summary",
            "Read \(isItem ? "an item" : "all items") of the feed \(feed.title ?? feed.name)."
        )
        if let description = feed.description { json.member("description", description) }
        json.key("responses")
        json.beginObject()
        json.key("200")
        json.beginObject()
        json.member("description", "The values.")
        json.key("content")
        json.beginObject()
        json.key("application/json")
        json.beginObject()
        json.key("schema")
        json.value(.object(schema))
        json.endObject()
        json.endObject()
        json.endObject()
        json.key("default")
        json.beginObject()
        json.member("$ref", "#/components/responses/Problem")
        json.endObject()
        json.endObject()
        json.endObject()
        json.endObject()
        return (try? JSONValue(parsing: json.bytes)) ?? .null
    }
}

extension Services {
    /// The feeds that pages without credentials show: all of them where callers need none, else the public ones.
    var openFeeds: [FeedConfiguration] {
        let isOpen = access.policy.isOpen
        return configuration.feeds.filter { isOpen || $0.isPublic }
    }
}
