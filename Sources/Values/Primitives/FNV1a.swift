/// The hash FNV-1a of 64 bits: the same in every process, unlike that of `Hasher`.
package struct FNV1a: Sendable {
    /// The hash.
    package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    /// The hash of bytes.
    package init(of bytes: [UInt8]) {
        for byte in bytes { add(byte) }
    }

    /// The hash of a text.
    package init(of text: String) {
        for byte in text.utf8 { add(byte) }
    }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
}
