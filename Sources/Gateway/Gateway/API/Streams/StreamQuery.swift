package import Changes
internal import EventHub
internal import JSONText
package import SessionCore

/// Reads the query of a stream.
package enum StreamQuery {
    /// The parameters of every stream.
    static let settings = ["format", "conflate", "maxFrequency", "fieldsSent", "legacy", "lastEventId"]
    /// The further parameters of `GET /v1/stream`.
    static let join = [
        "upstream", "mode", "items", "item", "itemGroup", "fields", "field", "fieldSchema", "dataAdapter", "selector",
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
        try reader.finish()
        request.format = try self.format(call, named: format)
        return request
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
    static func sources(_ query: Query) throws(Problem) -> [SourceSelector] {
        let refusals = Refusals(.query)
        let existing =
            query.values("subscription").map { SourceSelector.existing(.subscription(SubscriptionID($0))) }
            + query.values("client").map { .existing(.client(ClientID($0), withSubscriptions: false)) }
        let isJoin = join.contains { query.has($0) }
        var selectors = existing
        if isJoin {
            if !existing.isEmpty {
                refusals.refuse(["upstream"], "Either upstream or subscription and client are expected, not both.")
            }
            if let selector = SourceReader.join(ObjectReader(object(query, refusals), refusals)) {
                selectors.append(selector)
            }
        } else if existing.isEmpty {
            refusals.refuse(["upstream"], as: .missingMember, "upstream, subscription or client is required.")
        }
        for name in ["subscription", "client", "item", "field"] where query.values(name).count > mostRepeated {
            refusals.refuse([name], "It may be given \(mostRepeated) times; use POST /v1/streams for longer lists.")
        }
        try refusals.finish()
        return selectors
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
    /// A shared subscription to join.
    case join(upstream: String, SubscriptionProperties)

    /// Whether it names a source that a request has created.
    var isExisting: Bool { if case .existing = self { true } else { false } }
}

/// Reads the sources of streams.
enum SourceReader {
    /// The most sources of one list.
    private static let most = 10_000
    private static let joinMembers = SubscriptionReader.members.union(["upstream"])

    /// Reads a list of sources; nil if it is missing.
    static func list(_ name: String, of reader: ObjectReader, mayJoin: Bool) -> [SourceSelector]? {
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
            return source(ObjectReader(object, at: location, reader.refusals), mayJoin: mayJoin)
        }
    }

    /// Reads the members of a join; `others` are further members that the object may have.
    static func join(_ reader: ObjectReader, others: Set<String> = []) -> SourceSelector? {
        reader.allow(only: joinMembers.union(others))
        let upstream = reader.name("upstream")
        if !reader.has("upstream") { reader.missing("upstream") }
        guard let properties = SubscriptionReader(reader).properties(), let upstream else { return nil }
        return .join(upstream: upstream, properties)
    }

    private static func source(_ reader: ObjectReader, mayJoin: Bool) -> SourceSelector? {
        if reader.has("subscription") {
            reader.allow(only: ["subscription"])
            return reader.name("subscription").map { .existing(.subscription(SubscriptionID($0))) }
        }
        if reader.has("client") {
            reader.allow(only: ["client", "subscriptions"])
            let withSubscriptions = reader.bool("subscriptions") ?? false
            return reader.name("client").map { .existing(.client(ClientID($0), withSubscriptions: withSubscriptions)) }
        }
        if mayJoin, reader.has("upstream") { return join(reader) }
        reader.allow(only: [])
        reader.missing("subscription", "A subscription or a client is required.")
        return nil
    }
}
