/// Writes payloads for one stream into blocks that grow while it goes on.
struct PrivateWriter {
    private static let firstCapacity = 512
    private static let mostCapacity = 1 << 16

    let isChunked: Bool
    private var block: PrivateBytes?
    private var capacity = Self.firstCapacity

    init(isChunked: Bool) { self.isChunked = isChunked }

    /// Hands a payload to the sink, in an HTTP chunk if the stream has them; the number of bytes that makes.
    mutating func write<Sink: ByteSink & ~Copyable>(_ payload: [UInt8], to sink: inout Sink) -> Int {
        if let block, let range = block.append(payload, chunked: isChunked) {
            sink.append(range, owner: block)
            return range.count
        }
        let fresh = PrivateBytes(capacity: max(capacity, payload.count + VariantBuffer.chunkOverhead))
        capacity = min(Self.mostCapacity, capacity * 4)
        block = fresh
        guard let range = fresh.append(payload, chunked: isChunked) else {
            preconditionFailure("a fresh block holds what it was made for")
        }
        sink.append(range, owner: fresh)
        return range.count
    }
}
