package import Changes

/// A prepared stream as any member can open it: its sources, its settings, and the keys of its shared subscriptions.
package struct StreamDefinition: Sendable {
    /// The sources and settings; format and last event are those of the request that opens the stream. Of `types` only
    /// their presence is kept.
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
    }

    /// The bits of the byte of flags.
    fileprivate enum Flag {
        static let legacy: UInt8 = 1
        static let typed: UInt8 = 2
        static let all = legacy | typed
    }

    /// The bytes of a specification.
    package var bytes: [UInt8] {
        var writer = ByteWriter.stating()
        writer.bool(request.conflates)
        writer.optional(request.maxFrequency) { $0.double($1) }
        writer.bool(request.sendsAllFields)
        writer.byte((request.includesLegacy ? Flag.legacy : 0) | (request.types != nil ? Flag.typed : 0))
        writer.list(request.sources) { writer, source in
            switch source {
            case .subscription(let id):
                writer.byte(Tag.subscription)
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
        let flags = try reader.byte()
        guard flags & ~Flag.all == 0 else { throw .malformed }
        request.includesLegacy = flags & Flag.legacy != 0
        // The member that opens the stream finds the types themselves in its configuration.
        if flags & Flag.typed != 0 { request.types = [:] }
        var shared: [String: SharedTopicKey] = [:]
        for _ in 0..<(try reader.varint()) { request.sources.append(try reader.source(&shared)) }
        try reader.finish()
        self.request = request
        self.shared = shared
    }
}

extension ByteReader {
    fileprivate mutating func source(_ shared: inout [String: SharedTopicKey]) throws(CodingError) -> StreamSource {
        let tag = try byte()
        let id = try string()
        switch tag {
        case StreamDefinition.Tag.subscription:
            if let key = try optional({ reader throws(CodingError) in try reader.key() }) { shared[id] = key }
            return .subscription(SubscriptionID(id))
        case StreamDefinition.Tag.client: return .client(ClientID(id), withSubscriptions: try bool())
        default: throw .malformed
        }
    }
}
