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

/// Bytes that were written for one reader, or gathered for many: appended to until the block is full, never moved.
final class PrivateBytes {
    private let bytes: UnsafeMutableRawPointer
    private let capacity: Int
    private var used = 0

    /// An empty block.
    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { bytes.deallocate() }

    /// Appends a payload, in an HTTP chunk if asked, and gives the range; nil if it does not fit.
    func append(_ payload: [UInt8], chunked: Bool) -> UnsafeRawBufferPointer? {
        guard capacity - used >= payload.count + VariantBuffer.chunkOverhead else { return nil }
        let start = used
        if chunked { write(String(payload.count, radix: 16).utf8 + [0x0D, 0x0A]) }
        write(payload)
        if chunked { write([0x0D, 0x0A]) }
        return UnsafeRawBufferPointer(start: bytes + start, count: used - start)
    }

    /// Appends bytes, which have to fit.
    func append(_ source: UnsafeRawBufferPointer) {
        precondition(source.count <= capacity - used, "the block is too small")
        guard let base = source.baseAddress else { return }
        (bytes + used).copyMemory(from: base, byteCount: source.count)
        used += source.count
    }

    /// All bytes so far.
    var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: used) }

    private func write(_ source: [UInt8]) {
        source.withUnsafeBytes { append($0) }
    }
}
