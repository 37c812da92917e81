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
