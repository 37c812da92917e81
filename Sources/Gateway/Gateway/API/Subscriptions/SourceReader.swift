package import Changes
internal import JSONText
package import SessionCore
internal import SessionPool

/// A source as a request names it.
package enum SourceSelector: Sendable, Equatable {
    case existing(StreamSource)
    /// A shared subscription to join; `isTyped`: by the name of a feed, so that its values have types.
    case join(upstream: String, SubscriptionProperties, isTyped: Bool = false)

    var isSubscription: Bool { if case .existing(.client) = self { false } else { true } }

    /// The member of a body, or the parameter of a query, that names a client, a subscription or an upstream.
    var member: String {
        switch self {
        case .existing(.subscription): "subscription"
        case .existing(.client): "client"
        case .join: "upstream"
        }
    }

    /// The path, in the object that describes the source, of the name that a check of the source has refused.
    func path(refusedBy error: any Error) -> [String] {
        let uncovered = (error as? Problem)?.uncovered ?? []
        if uncovered.isEmpty { return [member] }
        if case .join(_, _, isTyped: true) = self { return ["feed"] }
        return uncovered
    }

    /// Whether the selector names a source that a request has created.
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
        guard let elements = value.array else { return reader.refused(name, "A list of sources is expected.") }
        if elements.count > most { return reader.refused(name, "At most \(most) sources are expected.") }
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
    static func join(_ reader: ObjectReader, _ defaults: SourceDefaults, others: Set<String> = []) -> SourceSelector? {
        reader.allow(only: joinMembers.union(others))
        let isTyped = reader.has("feed")
        guard let reader = expanded(reader, defaults) else { return nil }
        let upstream = upstream(reader, defaults)
        guard let properties = SubscriptionReader.properties(reader), let upstream else { return nil }
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
        let choice = defaults == nil ? "or a client is" : "a client, a feed, or items and fields are"
        reader.missing("subscription", "A subscription\(defaults == nil ? " " : ", ")\(choice) required.")
        return nil
    }
}

/// The values of sources that a request leaves out.
struct SourceDefaults: Sendable {
    private let upstreamCount: Int
    /// The upstream of sources that name none; nil: each source has to name one.
    let upstream: String?
    private let feeds: [FeedConfiguration]
    /// Whether sources may name a feed.
    var sees: @Sendable (FeedConfiguration) -> Bool = { _ in true }

    init(_ configuration: GatewayConfiguration) {
        upstreamCount = configuration.pool.upstreams.count
        upstream = configuration.pool.defaultUpstream?.name
        feeds = configuration.feeds
    }

    /// The feed of a name; nil: there is none, or sources may not name it.
    func feed(_ name: String) -> FeedConfiguration? { feeds.first { $0.name == name && sees($0) } }

    /// The names of the feeds that sources may name.
    var feedNames: [String] { feeds.filter(sees).map(\.name) }

    /// The rule that a source without an upstream breaks where none is the default.
    var upstreamRule: String {
        guard upstreamCount > 1 else { return "It is required: no upstream is configured." }
        return "It is required, because there are \(upstreamCount) upstreams and none is the default."
    }
}

extension Services {
    /// The values of sources that requests leave out.
    var sourceDefaults: SourceDefaults { current.version.sourceDefaults }

    /// The values of sources that a request leaves out. A feed that its caller does not see is treated as unknown: errors would
    /// tell its items, fields and upstream.
    func callerDefaults(_ call: Call) -> SourceDefaults {
        var defaults = current.version.sourceDefaults
        let permissions = permissions(call)
        defaults.sees = { permissions.sees($0) }
        return defaults
    }

    /// The values of sources that the query of a request leaves out. Throws 401 for a feed that a caller without credentials does not
    /// see: whether there is such a feed is told to callers with credentials only.
    func sourceDefaults(for call: Call) throws(Problem) -> SourceDefaults {
        let defaults = callerDefaults(call)
        guard call.caller.isAnonymous, let name = call.query.values("feed").first else { return defaults }
        guard defaults.feed(name) != nil else { throw Challenge.missing() }
        return defaults
    }
}
