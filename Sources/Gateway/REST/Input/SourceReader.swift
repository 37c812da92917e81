internal import EventHub
internal import JSONText
internal import SessionCore

/// What a caller names as the source of a stream.
enum SourceSelector: Sendable, Equatable {
    /// A source that exists.
    case existing(StreamSource)
    /// A shared subscription, to be joined.
    case join(upstream: String, SubscriptionProperties)
}

/// Reads the sources of streams.
enum SourceReader {
    private static let joinMembers = SubscriptionReader.members.union(["upstream"])

    /// Reads a list of sources; nil where it is missing.
    static func list(_ name: String, of reader: ObjectReader, mayJoin: Bool) -> [SourceSelector]? {
        guard let value = reader.object[name] else { return nil }
        guard let elements = value.array else {
            reader.refuse(name, "A list of sources is expected.")
            return nil
        }
        if elements.count > 10_000 {
            reader.refuse(name, "10000 sources at most are expected.")
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            let place = reader.path + [name, "\(index)"]
            guard let object = element.object else {
                reader.refusals.refuse(place, "A source is expected.")
                return nil
            }
            return source(ObjectReader(object, at: place, reader.refusals), mayJoin: mayJoin)
        }
    }

    /// Reads the members of a join; `others` are further members that the object may have.
    static func join(_ reader: ObjectReader, others: Set<String> = []) -> SourceSelector? {
        reader.allow(only: joinMembers.union(others))
        let upstream = reader.name("upstream")
        if !reader.has("upstream") { reader.miss("upstream") }
        guard let properties = SubscriptionReader(reader).properties(), let upstream else { return nil }
        return .join(upstream: upstream, properties)
    }

    private static func source(_ reader: ObjectReader, mayJoin: Bool) -> SourceSelector? {
        if reader.has("subscription") {
            reader.allow(only: ["subscription"])
            return reader.name("subscription").map { .existing(.subscription($0)) }
        }
        if reader.has("client") {
            reader.allow(only: ["client", "subscriptions"])
            let withSubscriptions = reader.bool("subscriptions") ?? false
            return reader.name("client").map { .existing(.client($0, withSubscriptions: withSubscriptions)) }
        }
        if mayJoin, reader.has("upstream") { return join(reader) }
        reader.allow(only: [])
        reader.miss("subscription", "A subscription or a client has to be named.")
        return nil
    }
}
