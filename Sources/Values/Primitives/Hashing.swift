/// The hash FNV-1a of 64 bits: the same in every process, unlike that of `Hasher`.
package enum FNV1a {
    private static let start: UInt64 = 0xCBF2_9CE4_8422_2325
    private static let factor: UInt64 = 0x100_0000_01B3

    package static func hash(of bytes: [UInt8]) -> UInt64 {
        var hash = start
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* factor }
        return hash
    }

    /// The hash of the UTF-8 bytes of a text.
    package static func hash(of text: String) -> UInt64 {
        var hash = start
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* factor }
        return hash
    }
}

/// The pseudo-random number generator SplitMix64: equal seeds produce equal numbers. Its numbers are not secrets.
package struct SplitMix64: RandomNumberGenerator, Sendable, Hashable {
    /// The difference of two consecutive states.
    package static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    /// A generator for a part of the program, independent of those of other parts.
    package init(seed: UInt64, part: String) { self.init(seed: seed ^ FNV1a.hash(of: part)) }

    /// The next 64 random bits.
    package mutating func next() -> UInt64 {
        defer { state &+= Self.increment }
        return Self.mixed(state)
    }

    /// The number that follows a state.
    package static func mixed(_ state: UInt64) -> UInt64 {
        var bits = state &+ increment
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}

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

    package static func append(_ value: UInt64, to bytes: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
