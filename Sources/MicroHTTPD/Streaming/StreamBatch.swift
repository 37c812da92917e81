/// What one consumer gets in one system call: a list of ranges of shared bytes. One batch is used for all streams of a
/// loop in turn, so that filling it allocates nothing.
package struct StreamBatch: ~Copyable {
    private(set) var pieces: [StreamPiece] = []
    /// The bytes that are in the batch.
    package private(set) var byteCount = 0
    private let byteLimit: Int
    private let pieceLimit: Int

    /// An empty batch with its limits; made by the loop, and by tests of contents.
    package init(byteLimit: Int, pieceLimit: Int) {
        self.byteLimit = byteLimit
        self.pieceLimit = pieceLimit
        pieces.reserveCapacity(pieceLimit)
    }

    /// True when a content should stop appending and answer `.more`. It is a wish, not a law: an event is never
    /// split on account of it, the last one may go over.
    package var isFull: Bool { byteCount >= byteLimit || pieces.count >= pieceLimit }

    /// The bytes up to the limit; 0 when full.
    package var remainingBytes: Int { max(0, byteLimit - byteCount) }

    /// The ranges up to the limit; 0 when full. Ranges that follow one another in memory, of the same owner, count once.
    package var remainingPieces: Int { max(0, pieceLimit - pieces.count) }

    /// Appends a range of bytes; they must not change or move while the owner lives. An empty range is passed over.
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

    /// Appends a part of the bytes, given by offsets.
    package mutating func append(_ shared: SharedBytes, _ range: Range<Int>) {
        append(UnsafeRawBufferPointer(rebasing: shared.bytes[range]), owner: shared)
    }

    /// A copy of all bytes, in order.
    package var joined: [UInt8] { pieces.flatMap { Array($0.bytes) } }

    /// Empties the batch and lets the owners go.
    package mutating func removeAll() {
        pieces.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}
