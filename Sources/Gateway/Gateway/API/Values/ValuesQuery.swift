internal import MicroHTTPD
internal import SessionCore

/// A request that reads values once.
struct ValuesQuery: Sendable {
    static let parameters = StreamQuery.join + ["format", "cursor"]
    /// How long a request waits for values without `Prefer: wait`, in seconds.
    static let usualWait = 5

    let upstream: String
    let properties: SubscriptionProperties
    let form: ValuesForm
    /// The tag of the values that the caller has; the response waits for others. Nil: any values.
    let cursor: String?
    /// How long the request waits, in seconds.
    let wait: Int
    /// Whether the caller has asked for that wait.
    let isWaitRequested: Bool
    /// The URL of the same request with another cursor, up to the cursor.
    private let next: String

    /// How values are written that are read by a feed; nil: as text.
    let feed: FeedForm?

    init(_ call: Call, _ defaults: SourceDefaults) throws(Problem) {
        guard
            case .join(let upstream, let properties, _) = try StreamQuery.joined(
                call.query.only(StreamQuery.join),
                defaults
            )
        else { throw Problem(.invalidValue) }
        let name = call.query.values("feed").first
        let feed = name.flatMap(defaults.feed)
        try self.init(call, upstream: upstream, properties, feed.map { FeedForm(feed: $0) })
    }

    /// A request for the values of a subscription. Its query has the form and the cursor.
    init(_ call: Call, upstream: String, _ properties: SubscriptionProperties, _ feed: FeedForm?) throws(Problem) {
        (self.upstream, self.properties, self.feed) = (upstream, properties, feed)
        form = try ValuesForm.chosen(by: call, alsoStreams: feed?.shape != nil)
        next = "\(call.request.rawPath)?\(call.query.canonical(before: "cursor"))"
        var reader = QueryReader(call.query)
        cursor = reader.name("cursor")
        try reader.finish()
        let wait = PreferHeader(call.header("Prefer")).wait
        self.wait = wait ?? Self.usualWait
        isWaitRequested = wait != nil
    }

    var selector: SourceSelector { .join(upstream: upstream, properties) }
}

extension ValuesQuery {
    /// The `Link` from the response of a request to the values after `tag`; nil if its URL is longer than the gateway accepts, or
    /// the link too long for the response. The HTTP server keeps the heads of request and response in one memory, which has room
    /// for the longest head of a request and 4 KiB for the other lines of the response.
    func link(after tag: EntityTag, of request: HTTPRequest, _ limits: DaemonConfiguration) -> String? {
        let own = request.rawPath.utf8.count + (request.rawQuery ?? "").utf8.count
        let head = request.headers.lines.reduce(own) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
        let room = min(limits.targetLimit, limits.targetLimit + limits.headerLimit - head)
        return next.utf8.count + tag.opaque.utf8.count <= room ? "<\(next)\(tag.opaque)>; rel=\"next\"" : nil
    }
}

extension Query {
    func only(_ names: [String]) -> Query { filtered { names.contains($0.name) } }

    /// The query as text with its pairs in the order of their names, so that queries which mean the same are equal, up to the
    /// value of a last pair. The parameters of one list keep the order of the list: `fields=b&field=a` is b, a.
    func canonical(before name: String) -> String {
        let lists = ["items": "item", "fields": "field"]
        let sorted = pairs.enumerated().filter { $0.element.name != name }
            .map { (key: lists[$0.element.name] ?? $0.element.name, offset: $0.offset, pair: $0.element) }
            .sorted { ($0.key, $0.offset) < ($1.key, $1.offset) }.map(\.pair)
        let texts = sorted.map { "\(PercentDecoding.encode($0.name))=\(PercentDecoding.encode($0.value))&" }
        return texts.joined() + "\(name)="
    }
}
