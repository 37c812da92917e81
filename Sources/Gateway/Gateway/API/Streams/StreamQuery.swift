package import Changes
internal import EventHub
internal import JSONText
package import SessionCore

/// Reads the query of a stream.
package enum StreamQuery {
    /// The parameters of every stream.
    static let settings = ["format", "conflate", "maxFrequency", "fieldsSent", "legacy", "lastEventId", "since"]
    /// The further parameters of `GET /v1/stream`.
    static let join = [
        "feed", "upstream", "mode", "items", "item", "itemGroup", "fields", "field", "fieldSchema", "dataAdapter",
        "selector",
        "requestedSnapshot", "requestedMaxFrequency", "requestedBufferSize", "commandSecondLevelFields",
        "commandSecondLevelFieldSchema", "commandSecondLevelDataAdapter",
    ]

    /// How often a parameter may be repeated.
    static let mostRepeated = 100

    /// The greatest `maxFrequency`, in updates per second.
    static let greatestFrequency = 1_000_000.0

    /// The settings of a stream, without its sources.
    package static func request(_ call: Call, conflates: Bool = true) throws(Problem) -> StreamRequest {
        var reader = QueryReader(call.query)
        var request = StreamRequest(sources: [])
        let format = reader.word("format", of: ["sse", "ndjson"])
        request.conflates = reader.bool("conflate", default: conflates)
        request.maxFrequency = reader.positive("maxFrequency", upTo: greatestFrequency)
        request.sendsAllFields = reader.word("fieldsSent", of: ["changed", "all"]) == "all"
        request.includesLegacy = reader.bool("legacy", default: false)
        let lastEventID = reader.text("lastEventId")
        request.lastEventID = call.header("Last-Event-ID") ?? lastEventID
        request.since = since(&reader).map { call.record.since - $0 }
        if request.since != nil, request.lastEventID != nil, call.header("Last-Event-ID") == nil {
            reader.refuse("since", "Either since or lastEventId is expected, not both.")
        }
        try reader.finish()
        request.format = try self.format(call, named: format)
        return request
    }

    /// How long ago the events are that a stream begins with; nil without `since`.
    private static func since(_ reader: inout QueryReader) -> Duration? {
        guard let text = reader.text("since") else { return nil }
        if let age = TimeText.age(text) { return age }
        reader.refuse("since", "A duration such as 90, 90s, 5m or 2h, or an RFC 3339 time is expected.")
        return nil
    }

    /// The format that the query names, else the one that `Accept` prefers.
    static func format(_ call: Call, named name: String?) throws(Problem) -> EventFormat {
        switch name {
        case "sse": return .serverSentEvents
        case "ndjson": return .ndjson
        default:
            let acceptance = AcceptHeader(call.header("Accept"))
            let type = try acceptance.choose(["text/event-stream", "application/x-ndjson"])
            return type == "text/event-stream" ? .serverSentEvents : .ndjson
        }
    }

    /// The sources that the query of `GET /v1/stream` names.
    static func sources(_ query: Query, _ defaults: SourceDefaults) throws(Problem) -> [SourceSelector] {
        let refusals = Refusals(.query)
        let existing =
            query.values("subscription").map { SourceSelector.existing(.subscription(SubscriptionID($0))) }
            + query.values("client").map { .existing(.client(ClientID($0), withSubscriptions: false)) }
        var selectors = existing
        if let name = join.first(where: query.has), !existing.isEmpty {
            refusals.refuse([name], "Either a subscription to join or existing sources are expected, not both.")
        } else if existing.isEmpty, let selector = joined(query, defaults, refusals) {
            selectors.append(selector)
        }
        try checkRepeated(query, refusals)
        return selectors
    }

    /// The shared subscription that a query describes.
    static func joined(_ query: Query, _ defaults: SourceDefaults) throws(Problem) -> SourceSelector {
        let refusals = Refusals(.query)
        let selector = joined(query, defaults, refusals)
        try checkRepeated(query, refusals)
        guard let selector else { throw Problem(.invalidValue) }
        return selector
    }

    private static func joined(
        _ query: Query,
        _ defaults: SourceDefaults,
        _ refusals: Refusals
    ) -> SourceSelector? {
        SourceReader.join(ObjectReader(object(query, refusals), refusals), defaults)
    }

    /// Throws the collected errors, and those of parameters that are repeated too often.
    private static func checkRepeated(_ query: Query, _ refusals: Refusals) throws(Problem) {
        for name in ["subscription", "client", "item", "field"] where query.values(name).count > mostRepeated {
            refusals.refuse([name], "It may be given \(mostRepeated) times; use POST /v1/streams for longer lists.")
        }
        try refusals.finish()
    }

    /// The query as a JSON object, as in a body.
    private static func object(_ query: Query, _ refusals: Refusals) -> JSONObject {
        var object = JSONObject()
        for (list, single) in [("items", "item"), ("fields", "field"), ("commandSecondLevelFields", "")] {
            let split = query.values(list).flatMap {
                $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            }
            let names = split.map { JSONValue.string(String(Substring($0))) } + query.values(single).map { .string($0) }
            if query.has(list) || query.has(single) { object[list] = .array(names) }
        }
        let texts = join.filter { !["items", "item", "fields", "field", "commandSecondLevelFields"].contains($0) }
        for name in texts {
            let values = query.values(name)
            if values.count > 1 { refusals.refuse([name], "It may be given only once.") }
            if let value = values.first { object[name] = .string(value) }
        }
        return object
    }
}

/// A source as a request names it.
package enum SourceSelector: Sendable, Equatable {
    /// An existing source.
    case existing(StreamSource)
    /// A shared subscription to join; `isTyped`: by the name of a feed, so that its values have types.
    case join(upstream: String, SubscriptionProperties, isTyped: Bool = false)

    /// Whether it is a subscription.
    var isSubscription: Bool {
        switch self {
        case .existing(.subscription), .join: true
        case .existing(.client): false
        }
    }

    /// Whether it names a source that a request has created.
    var isExisting: Bool { if case .existing = self { true } else { false } }
}

/// Reads the sources of streams.
enum SourceReader {
    /// The most sources of one list.
    private static let most = 10_000
    private static let joinMembers = SubscriptionReader.members.union(["feed", "upstream"])

    /// Reads a list of sources; nil if it is missing. With defaults, sources may join shared subscriptions.
    static func list(
        _ name: String,
        of reader: ObjectReader,
        joining defaults: SourceDefaults? = nil
    ) -> [SourceSelector]? {
        guard let value = reader.object[name] else { return nil }
        guard let elements = value.array else {
            reader.refuse(name, "A list of sources is expected.")
            return nil
        }
        if elements.count > most {
            reader.refuse(name, "At most \(most) sources are expected.")
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            if reader.refusals.isFull { return nil }
            let location = reader.path + [name, "\(index)"]
            guard let object = element.object else {
                reader.refusals.refuse(location, "A source is expected.")
                return nil
            }
            return source(ObjectReader(object, at: location, reader.refusals), defaults)
        }
    }

    /// Reads the members of a join; `others` are further members that the object may have.
    static func join(
        _ reader: ObjectReader,
        _ defaults: SourceDefaults,
        others: Set<String> = []
    ) -> SourceSelector? {
        reader.allow(only: joinMembers.union(others))
        let isTyped = reader.has("feed")
        guard let reader = expanded(reader, defaults) else { return nil }
        let upstream = upstream(reader, defaults)
        guard let properties = SubscriptionReader(reader).properties(), let upstream else { return nil }
        return .join(upstream: upstream, properties, isTyped: isTyped)
    }

    /// A reader of an object with the members that follow from the feed that it names; nil after an error.
    static func expanded(_ reader: ObjectReader, _ defaults: SourceDefaults) -> ObjectReader? {
        guard reader.has("feed") else { return reader }
        return defaults.expanded(reader).map { ObjectReader($0, at: reader.path, reader.refusals) }
    }

    /// The upstream that an object names, or the default one.
    static func upstream(_ reader: ObjectReader, _ defaults: SourceDefaults) -> String? {
        if reader.has("upstream") { return reader.name("upstream") }
        if defaults.upstream == nil { reader.missing("upstream", defaults.upstreamRule) }
        return defaults.upstream
    }

    private static func source(_ reader: ObjectReader, _ defaults: SourceDefaults?) -> SourceSelector? {
        if reader.has("subscription") {
            reader.allow(only: ["subscription"])
            return reader.name("subscription").map { .existing(.subscription(SubscriptionID($0))) }
        }
        if reader.has("client") {
            reader.allow(only: ["client", "subscriptions"])
            let withSubscriptions = reader.bool("subscriptions") ?? false
            return reader.name("client").map { .existing(.client(ClientID($0), withSubscriptions: withSubscriptions)) }
        }
        if let defaults, joinMembers.contains(where: reader.has) { return join(reader, defaults) }
        reader.allow(only: [])
        reader.missing("subscription", "A subscription or a client is required.")
        return nil
    }
}
