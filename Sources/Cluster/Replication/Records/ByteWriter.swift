internal import Primitives
internal import SessionCore

/// Appends values to a growing array of bytes. Integers are little-endian or `Varint`s.
struct ByteWriter: Sendable {
    private(set) var bytes: [UInt8] = []

    /// - Parameter capacity: The number of bytes for which memory is reserved.
    init(reserving capacity: Int = 0) { bytes.reserveCapacity(capacity) }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func fixed64(_ value: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
    }

    mutating func varint(_ value: UInt64) { Varint.append(value, to: &bytes) }

    /// A signed number, zigzag coded: small absolute values take few bytes.
    mutating func signed(_ value: Int) {
        varint(UInt64(bitPattern: Int64(value << 1) ^ Int64(value >> (Int.bitWidth - 1))))
    }

    /// The greatest number that is read by `size()`: many of them can be added.
    static let maxSize = Int(UInt32.max)

    /// A number from 0 on.
    mutating func size(_ value: Int) { varint(UInt64(clamping: value)) }

    mutating func double(_ value: Double) { fixed64(value.bitPattern) }

    mutating func bool(_ value: Bool) { byte(value ? 1 : 0) }

    mutating func blob(_ value: some Collection<UInt8>) {
        varint(UInt64(value.count))
        bytes.append(contentsOf: value)
    }

    mutating func string(_ value: String) { blob(value.utf8) }

    /// The bytes without their count, which the reader must know.
    mutating func raw(_ value: some Collection<UInt8>) { bytes.append(contentsOf: value) }
}

/// Bytes that violate the format.
package enum CodingError: Error, Equatable {
    /// The bytes end inside a value.
    case truncated
    /// A value is out of range, a kind is unknown, or bytes are left over.
    case malformed
}

/// Reads the bytes of `ByteWriter`. Does not trap for any bytes.
struct ByteReader {
    private let bytes: ArraySlice<UInt8>
    private var index: Int
    /// Returns the layout of the updates of a subscription, by its id; nil while it is not subscribed.
    var layouts: (String) -> SubscriptionLayout?
    /// The layout of the subscription that was read last.
    var layout: SubscriptionLayout?

    init(_ bytes: ArraySlice<UInt8>, layouts: @escaping (String) -> SubscriptionLayout? = { _ in nil }) {
        self.bytes = bytes
        index = bytes.startIndex
        self.layouts = layouts
    }

    /// The number of bytes not yet read.
    var remaining: Int { bytes.endIndex - index }

    mutating func byte() throws(CodingError) -> UInt8 {
        guard index < bytes.endIndex else { throw .truncated }
        defer { index += 1 }
        return bytes[index]
    }

    mutating func fixed64() throws(CodingError) -> UInt64 {
        guard remaining >= 8 else { throw .truncated }
        var value: UInt64 = 0
        for offset in 0..<8 { value |= UInt64(bytes[index + offset]) << UInt64(8 * offset) }
        index += 8
        return value
    }

    mutating func varint() throws(CodingError) -> UInt64 {
        do throws(Varint.Failure) {
            return try Varint.read(bytes, at: &index)
        } catch {
            throw error == .truncated ? .truncated : .malformed
        }
    }

    mutating func signed() throws(CodingError) -> Int {
        let value = try varint()
        return Int(Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1))
    }

    /// A number from 0 on; greater ones count as `ByteWriter.maxSize`.
    mutating func size() throws(CodingError) -> Int { Int(min(try varint(), UInt64(ByteWriter.maxSize))) }

    mutating func double() throws(CodingError) -> Double { Double(bitPattern: try fixed64()) }

    mutating func bool() throws(CodingError) -> Bool {
        switch try byte() {
        case 0: false
        case 1: true
        default: throw .malformed
        }
    }

    mutating func blob() throws(CodingError) -> ArraySlice<UInt8> { try raw(try varint()) }

    /// This number of bytes.
    mutating func raw(_ count: UInt64) throws(CodingError) -> ArraySlice<UInt8> {
        guard count <= UInt64(remaining) else { throw .truncated }
        defer { index += Int(count) }
        return bytes[index..<index + Int(count)]
    }

    mutating func string() throws(CodingError) -> String { String(decoding: try blob(), as: UTF8.self) }

    func finish() throws(CodingError) {
        guard remaining == 0 else { throw .malformed }
    }
}
