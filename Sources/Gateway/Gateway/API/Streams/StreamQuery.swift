package import Changes
internal import JSONText
internal import SessionCore

package enum StreamQuery {
    /// The parameters of every stream.
    static let settings = ["format", "conflate", "maxFrequency", "fieldsSent", "legacy", "lastEventId", "since"]
    /// The further parameters of `GET /v1/stream`.
    static let join = [
        "feed", "upstream", "mode", "items", "item", "itemGroup", "fields", "field", "fieldSchema", "dataAdapter",
        "selector", "requestedSnapshot", "requestedMaxFrequency", "requestedBufferSize", "commandSecondLevelFields",
        "commandSecondLevelFieldSchema", "commandSecondLevelDataAdapter",
    ]

    /// How often a parameter may be repeated.
    static let mostRepeated = 100

    /// The greatest `maxFrequency`, in updates per second.
    static let greatestFrequency = 1_000_000.0

    /// The longest id of an event, in bytes: the ids of the gateway are shorter. A stream keeps the last id of its client.
    private static let longestEventID = 128

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
        // An empty header names no event.
        let header = call.header("Last-Event-ID") ?? ""
        request.lastEventID = header.isEmpty ? lastEventID : header
        if let id = request.lastEventID, id.utf8.count > longestEventID { request.lastEventID = "-" }
        request.since = since(&reader).map { call.record.since - $0 }
        if request.since != nil, lastEventID != nil, header.isEmpty {
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
        reader.refuse("since", "A duration such as 90, 90s, 5m or 2h, or an RFC 3339 time that has passed is expected.")
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
        for name in ["subscription", "client"] where query.values(name).contains("") {
            refusals.refuse([name], "It must not be empty.")
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

    private static func joined(_ query: Query, _ defaults: SourceDefaults, _ refusals: Refusals) -> SourceSelector? {
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
            var given: [(name: String, parameter: String)] = []
            for pair in query.pairs {
                switch pair.name {
                case list:
                    let names = pair.value.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
                    given += names.map { (String(Substring($0)), list) }
                case single: given.append((pair.value, single))
                default: break
                }
            }
            if given.isEmpty { continue }
            object[list] = .array(given.map { .string($0.name) })
            refusals.parameters[list] = given.map(\.parameter)
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
