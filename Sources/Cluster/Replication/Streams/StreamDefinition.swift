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

    fileprivate enum Tag {
        static let subscription: UInt8 = 1
        static let client: UInt8 = 2
        /// A subscription that was joined by the name of a feed.
        static let typedSubscription: UInt8 = 3
    }

    /// The bytes of a specification.
    package var bytes: [UInt8] {
        var writer = ByteWriter.stating()
        writer.bool(request.conflates)
        writer.optional(request.maxFrequency) { $0.double($1) }
        writer.bool(request.sendsAllFields)
        writer.bool(request.includesLegacy)
        writer.list(request.sources) { writer, source in
            switch source {
            case .subscription(let id):
                writer.byte(request.typed.contains(id) ? Tag.typedSubscription : Tag.subscription)
                writer.string(id.rawValue)
                writer.optional(shared[id.rawValue]) { $0.key($1) }
            case .client(let id, let withSubscriptions):
                writer.byte(Tag.client)
                writer.string(id.rawValue)
                writer.bool(withSubscriptions)
            }
        }
        return writer.bytes
    }

    /// Reads the bytes of a specification.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = try ByteReader.stating(bytes)
        var request = StreamRequest(sources: [])
        request.conflates = try reader.bool()
        request.maxFrequency = try reader.optional { reader throws(CodingError) in try reader.double() }
        request.sendsAllFields = try reader.bool()
        request.includesLegacy = try reader.bool()
        var shared: [String: SharedTopicKey] = [:]
        for _ in 0..<(try reader.varint()) { try reader.source(of: &request, &shared) }
        try reader.finish()
        self.request = request
        self.shared = shared
    }
}

extension ByteReader {
    fileprivate mutating func source(
        of request: inout StreamRequest,
        _ shared: inout [String: SharedTopicKey]
    ) throws(CodingError) {
        let tag = try byte()
        let id = try string()
        switch tag {
        case StreamDefinition.Tag.subscription, StreamDefinition.Tag.typedSubscription:
            if let key = try optional({ reader throws(CodingError) in try reader.key() }) { shared[id] = key }
            request.sources.append(.subscription(SubscriptionID(id)))
            if tag == StreamDefinition.Tag.typedSubscription { request.typed.insert(SubscriptionID(id)) }
        case StreamDefinition.Tag.client:
            request.sources.append(.client(ClientID(id), withSubscriptions: try bool()))
        default: throw .malformed
        }
    }
}
