internal import StreamIO

/// Writes payloads for one stream into blocks of growing size.
struct PrivateWriter {
    private static let firstCapacity = 512
    private static let mostCapacity = 1 << 16

    let isChunked: Bool
    private var block: PrivateBytes?
    private var capacity = Self.firstCapacity

    init(isChunked: Bool) { self.isChunked = isChunked }

    /// Passes a payload to the batch, in an HTTP chunk if the stream is chunked.
    mutating func write(_ payload: [UInt8], to batch: inout StreamBatch) {
        if let block, let range = block.append(payload, chunked: isChunked) {
            return batch.append(range, owner: block)
        }
        let fresh = PrivateBytes(capacity: max(capacity, payload.count + ChunkFraming.overhead))
        capacity = min(Self.mostCapacity, capacity * 4)
        block = fresh
        guard let range = fresh.append(payload, chunked: isChunked) else {
            preconditionFailure("a fresh block holds what it was made for")
        }
        batch.append(range, owner: fresh)
    }
}

/// A block of bytes for one reader, or copied together for many: appended to until it is full, never moved.
final class PrivateBytes {
    private let bytes: UnsafeMutableRawPointer
    private let capacity: Int
    private var used = 0

    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(byteCount: capacity, alignment: 1)
    }

    deinit { bytes.deallocate() }

    /// Appends a payload, in an HTTP chunk if requested, and returns the range; nil if it does not fit.
    func append(_ payload: [UInt8], chunked: Bool) -> UnsafeRawBufferPointer? {
        guard capacity - used >= payload.count + ChunkFraming.overhead else { return nil }
        let start = used
        if chunked {
            used += ChunkFraming.write(payload, to: bytes + start).chunk.upperBound
        } else {
            payload.withUnsafeBytes { append($0) }
        }
        return UnsafeRawBufferPointer(start: bytes + start, count: used - start)
    }

    func append(_ source: UnsafeRawBufferPointer) {
        precondition(source.count <= capacity - used, "the block is too small")
        guard let base = source.baseAddress else { return }
        (bytes + used).copyMemory(from: base, byteCount: source.count)
        used += source.count
    }

    var all: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: used) }
}
