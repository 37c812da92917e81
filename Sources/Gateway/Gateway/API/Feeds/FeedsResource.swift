internal import JSONText
internal import SessionCore

/// `/v1/feeds` and `/feeds`: the configured feeds, and their data by short URLs.
struct FeedsResource: Sendable {
    let services: Services

    /// The query parameters of a short URL. The settings of streams are those of `GET /v1/stream`, which also takes feeds.
    static let parameters = ["format", "cursor", "lastEventId"]

    /// `GET /v1/feeds`.
    func list(_ call: Call) throws -> OperationResult {
        let permissions = services.permissions(call)
        let page = try Page(of: services.configuration.feeds.filter(permissions.mayRead), for: call) { $0.name }
        return .response(page.response("feeds") { view($1).write(to: &$0, isWhole: false) })
    }

    /// `GET /v1/feeds/{feed}`.
    func get(_ call: Call) throws -> OperationResult {
        let view = view(try feed(call))
        let response = Response.json { view.write(to: &$0, isWhole: true) }
        return .response(try response.tagged(for: call))
    }

    /// `GET /feeds/{feed}`: all items.
    func all(_ call: Call) async throws -> OperationResult {
        let feed = try feed(call)
        guard let items = feed.itemNames else {
            let url = "/feeds/\(feed.name)/{item}"
            throw Problem(.unknownItem, detail: "The feed has any number of items: name one, as in \(url).")
        }
        return try await read(feed, items: items, .table, call)
    }

    /// `GET /feeds/{feed}/{item}`: one row or, in COMMAND mode, the rows of an item by their keys.
    func item(_ call: Call) async throws -> OperationResult {
        let feed = try feed(call)
        return try await read(feed, items: [try item(of: feed, call)], .row, call)
    }

    /// `GET /feeds/{feed}/{item}/{field}`: one value or, in COMMAND mode, the row of a key.
    func field(_ call: Call) async throws -> OperationResult {
        let feed = try feed(call)
        let item = try item(of: feed, call)
        let name = call.parameter("field")
        if feed.mode == .command { return try await read(feed, items: [item], .key(ExactText(name)), call) }
        guard feed.field(name) != nil else {
            let hint = SimilarNames.hint(for: name, among: feed.fieldNames)
            throw Problem(.unknownField, detail: "The feed \"\(feed.name)\" has no field \"\(name)\".\(hint)")
        }
        return try await read(feed, items: [item], fields: [name], .value, call)
    }

    // MARK: - Steps

    private func feed(_ call: Call) throws(Problem) -> FeedConfiguration {
        let name = call.parameter("feed")
        let permissions = services.permissions(call)
        guard let feed = services.configuration.feeds.first(where: { $0.name == name }), permissions.sees(feed) else {
            // Credentials may make the feed visible.
            if call.caller.isAnonymous { throw Challenge.missing() }
            let visible = services.configuration.feeds.filter(permissions.sees).map(\.name)
            let hint = SimilarNames.hint(for: name, among: visible)
            throw Problem(.unknownFeed, detail: "There is no feed \"\(name)\".\(hint)")
        }
        return feed
    }

    private func item(of feed: FeedConfiguration, _ call: Call) throws(Problem) -> String {
        let item = call.parameter("item")
        guard feed.has(item: item), NameRule.item.admits(item) else {
            throw Problem(.unknownItem, detail: "The feed \"\(feed.name)\" has no item \"\(item)\".")
        }
        return item
    }

    private func read(
        _ feed: FeedConfiguration,
        items: [String],
        fields: [String]? = nil,
        _ shape: FeedShape,
        _ call: Call
    ) async throws -> OperationResult {
        guard let upstream = feed.upstream ?? services.sourceDefaults.upstream else {
            throw Problem(.unknownUpstream, detail: "The feed \"\(feed.name)\" has no upstream.")
        }
        let properties = feed.properties(items: items, fields: fields ?? feed.fieldNames)
        if Self.wantsStream(call) {
            var reader = QueryReader(call.query)
            if reader.text("cursor") != nil { reader.refuse("cursor", "A stream has no cursor.") }
            if case .key = shape {
                let rule = "A stream has all keys of an item: the URL must not name one."
                guard call.query.has("format") else { throw Problem(.notAcceptable, detail: rule) }
                reader.refuse("format", rule)
            }
            try reader.finish()
            let request = try StreamQuery.request(call)
            let opener = StreamOpener(services: services)
            return try await opener.open(request, [.join(upstream: upstream, properties, isTyped: true)], call)
        }
        if call.query.has("lastEventId") {
            let rule = "Only a stream resumes after an event: format=sse or Accept: text/event-stream asks for one."
            throw Problem(refusing: [ProblemEntry(.parameter("lastEventId"), .invalidValue, rule)])
        }
        let query = try ValuesQuery(call, upstream: upstream, properties, FeedForm(feed: feed, shape: shape))
        return try await CurrentValuesResource(services: services).read(query, call)
    }

    /// Whether a request asks for a stream: by `format=sse`, or by naming its media type as the preferred one.
    static func wantsStream(_ call: Call) -> Bool {
        if let format = call.query.values("format").first { return format == "sse" }
        return AcceptHeader(call.header("Accept")).prefers("text/event-stream", to: ValuesForm.offers)
    }

    private func view(_ feed: FeedConfiguration) -> FeedView {
        FeedView(feed: feed, upstream: feed.upstream ?? services.sourceDefaults.upstream)
    }
}

/// The part of a feed that a short URL names.
enum FeedShape: Sendable, Equatable {
    /// All items: an object with the row of each.
    case table
    /// One item: its row.
    case row
    /// One key of a COMMAND item: its row.
    case key(ExactText)
    case value
}

/// How values are written that are read by a feed.
struct FeedForm: Sendable {
    /// The feed with the types of its fields.
    let feed: FeedConfiguration
    /// The part that a short URL names; nil for `GET /v1/values`.
    var shape: FeedShape?
}
