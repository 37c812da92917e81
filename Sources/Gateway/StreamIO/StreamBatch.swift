/// The bytes that one stream sends in one system call: a list of ranges of shared bytes. One batch serves all streams
/// of a loop in turn, so that filling it allocates nothing.
package struct StreamBatch: ~Copyable {
    /// The ranges, in order.
    package private(set) var pieces: [StreamPiece] = []
    /// The number of bytes in the batch.
    package private(set) var byteCount = 0
    private let byteLimit: Int
    private let pieceLimit: Int

    /// An empty batch with its limits.
    package init(byteLimit: Int, pieceLimit: Int) {
        self.byteLimit = byteLimit
        self.pieceLimit = pieceLimit
        pieces.reserveCapacity(pieceLimit)
    }

    /// True when a content should stop appending and return `.more`. The limit is soft: an event is never split, so the
    /// last one may exceed it.
    package var isFull: Bool { byteCount >= byteLimit || pieces.count >= pieceLimit }

    /// The bytes up to the limit; 0 when full.
    package var remainingBytes: Int { max(0, byteLimit - byteCount) }

    /// Appends a range of bytes; they must not change or move while the owner lives. An empty range is ignored. A range
    /// that follows the last one in memory and has the same owner extends it.
    package mutating func append(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        byteCount += bytes.count
        if let last = pieces.last, last.owner === owner, let lastStart = last.bytes.baseAddress,
            lastStart + last.bytes.count == start
        {
            pieces[pieces.count - 1].bytes = UnsafeRawBufferPointer(
                start: lastStart,
                count: last.bytes.count + bytes.count
            )
        } else {
            pieces.append(StreamPiece(owner: owner, bytes: bytes))
        }
    }

    /// Appends all the bytes.
    package mutating func append(_ shared: SharedBytes) {
        append(shared.bytes, owner: shared)
    }

    /// Empties the batch and releases the owners.
    package mutating func removeAll() {
        pieces.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
