internal import CZlib

/// Compresses into raw deflate blocks (RFC 1951) that end at a byte boundary.
///
/// A block may refer to the 32 KiB that were compressed before it since the last reset. Blocks that are compressed after a
/// reset refer to nothing before them, so that they may follow any other blocks.
final class Deflater {
    /// How much work a block is worth.
    enum Effort: Int32 {
        /// For one reader.
        case least = 1
        /// For a group of readers.
        case usual = 6
    }

    /// The approximate memory of a deflater in bytes.
    static let memory = 1 << 18

    // Raw deflate; the defaults of zlib for window and memory.
    private static let windowBits: Int32 = -15
    private static let memoryLevel: Int32 = 8
    /// The most bytes that the end of a block needs.
    private static let flushMargin = 64

    private let stream: UnsafeMutablePointer<z_stream>
    private var output: [UInt8] = []
    /// The bytes that were compressed since the last reset.
    private(set) var history = 0

    init(_ effort: Effort) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        let size = Int32(MemoryLayout<z_stream>.size)
        let result = deflateInit2_(
            stream,
            effort.rawValue,
            Z_DEFLATED,
            Self.windowBits,
            Self.memoryLevel,
            Z_DEFAULT_STRATEGY,
            ZLIB_VERSION,
            size
        )
        precondition(result == Z_OK, "zlib has no memory, or another version than its header")
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    func reset() {
        guard history > 0 else { return }
        deflateReset(stream)
        history = 0
    }

    /// Compresses bytes into blocks that a reader can decode at once.
    func compress(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        history += bytes.count
        let capacity = Int(deflateBound(stream, uLong(bytes.count))) + Self.flushMargin
        return [UInt8](unsafeUninitializedCapacity: capacity) { memory, count in
            stream.pointee.next_in = UnsafeMutablePointer(
                mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            )
            stream.pointee.avail_in = UInt32(bytes.count)
            stream.pointee.next_out = memory.baseAddress
            stream.pointee.avail_out = UInt32(capacity)
            let result = deflate(stream, Z_SYNC_FLUSH)
            precondition(result == Z_OK && stream.pointee.avail_out > 0, "the bound of zlib holds the output")
            count = capacity - Int(stream.pointee.avail_out)
        }
    }
}

/// The parts of the gzip format (RFC 1952) around the deflate blocks.
///
///     1f 8b 08 00 00000000 00 ff │ blocks … │ 01 0000 ffff │ crc32 │ length
///     header                     │          │ the last one │ trailer
enum GzipFraming {
    /// The header of ten bytes: no name, no time, an unknown system.
    static let header: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF]
    /// The largest content of a stored block.
    private static let mostStored = 0xFFFF

    /// Stored blocks, none of which is the last one: five bytes, then the content.
    static func stored(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var blocks: [UInt8] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = rest.prefix(mostStored)
            let count = UInt16(part.count)
            blocks += [0, UInt8(count & 0xFF), UInt8(count >> 8), UInt8(~count & 0xFF), UInt8(~count >> 8)]
            blocks += part
            rest = rest.dropFirst(mostStored)
        }
        return blocks
    }

    /// The last block, which is empty, and the trailer.
    static func end(_ sum: Checksum) -> [UInt8] {
        let length = UInt32(truncatingIfNeeded: sum.length)
        let trailer = [sum.crc, length].flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return [1, 0, 0, 0xFF, 0xFF] + trailer
    }
}

/// The CRC-32 and the length of a part of a body.
struct Checksum: Equatable {
    private(set) var crc: UInt32 = 0
    private(set) var length = 0

    init() {}

    private init(crc: UInt32, length: Int) {
        self.crc = crc
        self.length = length
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress else { return }
        crc = UInt32(crc32_z(uLong(crc), base.assumingMemoryBound(to: UInt8.self), z_size_t(bytes.count)))
        length += bytes.count
    }

    mutating func add(_ part: Checksum) {
        crc = UInt32(crc32_combine(uLong(crc), uLong(part.crc), part.length))
        length += part.length
    }

    /// The checksum of the rest behind a beginning: CRC-32 is linear, so the sum of the whole is that of the rest, and that
    /// of the beginning moved by the length of the rest.
    func rest(after beginning: Checksum) -> Checksum {
        let length = length - beginning.length
        let moved = UInt32(crc32_combine(uLong(beginning.crc), 0, length))
        return Checksum(crc: crc ^ moved, length: length)
    }
}
