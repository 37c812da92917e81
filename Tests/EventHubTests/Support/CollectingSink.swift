internal import EventHub

/// Keeps a copy of what a stream gives.
struct CollectingSink: ByteSink {
    var bytes: [UInt8] = []
    var limit: Int
    var pieces = 0

    init(limit: Int = 256 << 10) { self.limit = limit }

    mutating func append(_ range: UnsafeRawBufferPointer, owner: AnyObject) {
        pieces += 1
        bytes += range
    }

    var remainingBytes: Int { max(0, limit - bytes.count) }
    var isFull: Bool { bytes.count >= limit }
}
