/// The bytes that one stream sends in one system call: a list of ranges of shared bytes. One batch serves all streams
/// of a loop in turn, so that filling it allocates nothing.
package struct StreamBatch: ~Copyable {
    package private(set) var pieces: [StreamPiece] = []
    package private(set) var byteCount = 0
    private let byteLimit: Int
    private let pieceLimit: Int

    package init(byteLimit: Int, pieceLimit: Int) {
        self.byteLimit = byteLimit
        self.pieceLimit = pieceLimit
        pieces.reserveCapacity(pieceLimit)
    }

    /// True when a content should stop appending and return `.more`. The limit is soft: an event is never split, so the
    /// last one may exceed it.
    package var isFull: Bool { byteCount < byteLimit ? pieces.count >= pieceLimit : true }

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

    package mutating func append(_ shared: SharedBytes) { append(shared.bytes, owner: shared) }

    /// Empties the batch and releases the owners.
    package mutating func removeAll() {
        pieces.removeAll(keepingCapacity: true)
        byteCount = 0
    }
}

/// Bytes that never change and never move, shared by all holders of the object.
package final class SharedBytes: Sendable {
    // Written once in `init`, before the object is shared; read only afterwards.
    private nonisolated(unsafe) let storage: UnsafeMutableRawBufferPointer

    package init(_ bytes: some Collection<UInt8>) {
        storage = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        storage.copyBytes(from: bytes)
    }

    deinit { storage.deallocate() }

    package var count: Int { storage.count }

    /// The bytes, valid for as long as the object lives.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(storage) }

    /// A copy of the bytes, also of an object that nobody else holds.
    package var array: [UInt8] { Array(bytes) }
}

/// A range of bytes and the object that keeps them alive.
package struct StreamPiece {
    package let owner: AnyObject
    /// The bytes; they neither change nor move while the owner lives.
    package var bytes: UnsafeRawBufferPointer

    package init(owner: AnyObject, bytes: UnsafeRawBufferPointer) {
        self.owner = owner
        self.bytes = bytes
    }
}

/// The chunked transfer coding (RFC 9112, section 7.1).
///
///     1a CR LF  <26 bytes>  CR LF       one chunk: its length in hexadecimal, its bytes
///     0 CR LF CR LF                     the end
package enum ChunkFraming {
    /// The empty chunk that ends a body.
    package static let lastChunk: [UInt8] = Array("0\r\n\r\n".utf8)

    /// The most bytes that framing adds to a payload: 16 digits of its length and two line ends.
    package static let overhead = 16 + 4

    /// A chunk with a payload, which must not be empty.
    package static func chunk(of payload: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: payload.count + overhead) { memory, count in
            guard let start = memory.baseAddress else { return }
            count = write(payload, to: UnsafeMutableRawPointer(start)).chunk.count
        }
    }

    package static func payload(of chunk: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        // Its length is the first line, and a line end follows the payload.
        let start = (chunk.firstIndex(of: 0x0A) ?? -1) + 1
        return UnsafeRawBufferPointer(rebasing: chunk[start..<max(start, chunk.count - 2)])
    }

    /// Writes a chunk around a payload, which must not be empty: an empty chunk would end the body.
    ///
    /// - Parameters:
    ///   - payload: The bytes of the chunk.
    ///   - memory: Where to write; `payload.count + overhead` bytes have to be free there.
    /// - Returns: Where the chunk and the payload in it lie, as offsets from `memory`.
    package static func write(
        _ payload: [UInt8],
        to memory: UnsafeMutableRawPointer
    ) -> (chunk: Range<Int>, payload: Range<Int>) {
        let bytes = memory.bindMemory(to: UInt8.self, capacity: payload.count + overhead)
        var used = 0
        var shift = max(0, (Int.bitWidth - payload.count.leadingZeroBitCount - 1) / 4) * 4
        while shift >= 0 {
            let digit = UInt8(truncatingIfNeeded: (payload.count >> shift) & 15)
            bytes[used] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            used += 1
            shift -= 4
        }
        (bytes[used], bytes[used + 1]) = (0x0D, 0x0A)
        let start = used + 2
        let end = start + payload.count
        (bytes + start).update(from: payload, count: payload.count)
        (bytes[end], bytes[end + 1]) = (0x0D, 0x0A)
        return (0..<end + 2, start..<end)
    }
}
