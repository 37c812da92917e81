/// The number of an open stream. It is unique on its loop: a place in a table that is used again, and how often that
/// place was used before, so that a late message about an old stream never reaches a new one.
package struct StreamID: Sendable, Hashable {
    /// Use count in the upper half (31 bits), place in the lower.
    package let rawValue: UInt64

    /// A number from its parts; made by the loop, and by tests of feeds.
    package init(slot: Int, generation: UInt32) {
        rawValue = UInt64(generation & 0x7FFF_FFFF) << 32 | UInt64(UInt32(truncatingIfNeeded: slot))
    }

    init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// The place in the loop's tables: small numbers, used again; contents may use it as an array index.
    package var slot: Int {
        Int(truncatingIfNeeded: rawValue & 0xFFFF_FFFF)
    }

    var generation: UInt32 {
        UInt32(truncatingIfNeeded: rawValue >> 32)
    }
}
