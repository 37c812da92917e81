/// Numbers of up to 64 bits in groups of seven bits, the lowest group first; bit 7 marks all groups but the last one (LEB128).
package enum Varint {
    /// Bytes that are no number.
    package enum Failure: Error {
        /// The bytes end inside the number.
        case truncated
        /// The number exceeds 64 bits.
        case tooLarge
    }

    /// Reads the number at an index, and moves the index behind it.
    package static func read(_ bytes: ArraySlice<UInt8>, at index: inout Int) throws(Failure) -> UInt64 {
        var value: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            guard index < bytes.endIndex else { throw .truncated }
            let byte = bytes[index]
            index += 1
            if shift == 63, byte > 1 { throw .tooLarge }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
            shift += 7
        }
    }

    /// Appends a number.
    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
