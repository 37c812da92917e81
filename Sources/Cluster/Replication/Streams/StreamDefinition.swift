package import Changes

/// A prepared stream as any member can open it: its sources, its settings, and the keys of its shared subscriptions.
package struct StreamDefinition: Sendable {
    /// The sources and settings; format and last event are those of the request that opens the stream. That member
    /// finds `types` in its configuration.
    package let request: StreamRequest
    /// The shared subscriptions among the sources, by id.
    package let shared: [String: SharedTopicKey]

    /// A definition.
    package init(request: StreamRequest, shared: [String: SharedTopicKey]) {
        self.request = request
        self.shared = shared
    }

    /// The bytes of a specification.
    package var bytes: [UInt8] { Wire<StreamDefinition>.definition.stating().bytes(self) }

    /// Reads the bytes of a specification.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        self = try Wire<StreamDefinition>.definition.stating().value(bytes)
    }

    /// A source with the key of its shared subscription.
    fileprivate enum Source: Sendable {
        case subscription(SubscriptionID, SharedTopicKey?)
        case client(ClientID, withSubscriptions: Bool)
        /// A subscription that was joined by the name of a feed.
        case typedSubscription(SubscriptionID, SharedTopicKey?)
    }

    fileprivate var sources: [Source] {
        request.sources.map { source in
            switch source {
            case .subscription(let id) where request.typed.contains(id): .typedSubscription(id, shared[id.rawValue])
            case .subscription(let id): .subscription(id, shared[id.rawValue])
            case .client(let id, let withSubscriptions): .client(id, withSubscriptions: withSubscriptions)
            }
        }
    }

    fileprivate init(_ request: StreamRequest, _ sources: [Source]) {
        var request = request
        var shared: [String: SharedTopicKey] = [:]
        for source in sources {
            switch source {
            case .subscription(let id, let key), .typedSubscription(let id, let key):
                if case .typedSubscription = source { request.typed.insert(id) }
                request.sources.append(.subscription(id))
                if let key { shared[id.rawValue] = key }
            case .client(let id, let withSubscriptions):
                request.sources.append(.client(id, withSubscriptions: withSubscriptions))
            }
        }
        self.init(request: request, shared: shared)
    }
}

extension Wire<StreamDefinition> {
    fileprivate static let definition = Wire(
        {
            (
                conflates: Bool,
                maxFrequency: Double?,
                sendsAllFields: Bool,
                includesLegacy: Bool,
                sources: [StreamDefinition.Source]
            ) in
            var request = StreamRequest(sources: [])
            request.conflates = conflates
            request.maxFrequency = maxFrequency
            request.sendsAllFields = sendsAllFields
            request.includesLegacy = includesLegacy
            return StreamDefinition(request, sources)
        },
        (\.request.conflates, .bool),
        (\.request.maxFrequency, .optional(.double)),
        (\.request.sendsAllFields, .bool),
        (\.request.includesLegacy, .bool),
        (\.sources, .list(.source))
    )
}

extension Wire<StreamDefinition.Source> {
    fileprivate static let source = Wire(cases: [
        Case(1, .subscription, .optional(.topic), make: { .subscription($0, $1) }) {
            if case .subscription(let id, let key) = $0 { (id, key) } else { nil }
        },
        Case(2, .client, .bool, make: { .client($0, withSubscriptions: $1) }) {
            if case .client(let id, let withSubscriptions) = $0 { (id, withSubscriptions) } else { nil }
        },
        Case(3, .subscription, .optional(.topic), make: { .typedSubscription($0, $1) }) {
            if case .typedSubscription(let id, let key) = $0 { (id, key) } else { nil }
        },
    ])
}
