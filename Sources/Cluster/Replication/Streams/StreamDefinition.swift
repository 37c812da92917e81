package import Changes

/// A prepared stream as any member can open it: its sources, its settings, and the keys of its shared subscriptions.
package struct StreamDefinition: Sendable {
    /// The sources and settings; format and last event are those of the request that opens the stream. That member
    /// finds `types` in its configuration.
    package fileprivate(set) var request: StreamRequest
    /// The shared subscriptions among the sources, by id.
    package fileprivate(set) var shared: [String: SharedTopicKey]

    package init(request: StreamRequest, shared: [String: SharedTopicKey]) {
        self.request = request
        self.shared = shared
    }

    /// The bytes of a specification.
    package var bytes: [UInt8] { Self.wire.stating().bytes(self) }

    /// Reads the bytes of a specification.
    package init(_ bytes: [UInt8]) throws(CodingError) { self = try Self.wire.stating().value(bytes) }

    /// A source, the key of its shared subscription, and whether a subscription was joined by the name of a feed.
    fileprivate typealias Source = (source: StreamSource, key: SharedTopicKey?, isTyped: Bool)

    fileprivate var sources: [Source] {
        get {
            request.sources.map { source in
                guard case .subscription(let id) = source else { return (source, nil, false) }
                return (source, shared[id.rawValue], request.typed.contains(id))
            }
        }
        set {
            (request.sources, request.typed, shared) = ([], [], [:])
            for (source, key, isTyped) in newValue {
                request.sources.append(source)
                guard case .subscription(let id) = source else { continue }
                if isTyped { request.typed.insert(id) }
                if let key { shared[id.rawValue] = key }
            }
        }
    }

    static let wire = Wire<Self>(
        StreamDefinition(request: StreamRequest(sources: []), shared: [:]),
        [
            Field(\.request.conflates, .bool),
            Field(\.request.maxFrequency, .optional(.double)),
            Field(\.request.sendsAllFields, .bool),
            Field(\.request.includesLegacy, .bool),
            Field(\.sources, .list(.source)),
        ]
    )
}

extension Wire<StreamDefinition.Source> {
    fileprivate static let source = Wire(cases: [
        Case(1, .subscription, .optional(SharedTopicKey.wire), make: { (.subscription($0), $1, false) }) {
            if case (.subscription(let id), let key, false) = $0 { (id, key) } else { nil }
        },
        Case(2, .client, .bool, make: { (.client($0, withSubscriptions: $1), nil, false) }) {
            if case .client(let id, let withSubscriptions) = $0.source { (id, withSubscriptions) } else { nil }
        },
        Case(3, .subscription, .optional(SharedTopicKey.wire), make: { (.subscription($0), $1, true) }) {
            if case (.subscription(let id), let key, true) = $0 { (id, key) } else { nil }
        },
    ])
}
