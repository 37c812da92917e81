/// SHA-1 (FIPS 180-4), only for certificate pins in the older form.
enum SHA1 {
    /// The 20 bytes of the digest.
    static func digest(of bytes: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0]
        for words in MessageBlocks(bytes) { compress(words, into: &state) }
        return state.flatMap(\.bigEndianBytes)
    }

    private static func compress(_ words: [UInt32], into state: inout [UInt32]) {
        var schedule = words
        for index in 16..<80 {
            let mixed = schedule[index - 3] ^ schedule[index - 8] ^ schedule[index - 14] ^ schedule[index - 16]
            schedule.append(mixed.rotated(right: 31))
        }
        var v = state
        for index in 0..<80 {
            let (function, constant): (UInt32, UInt32) =
                switch index {
                case ..<20: ((v[1] & v[2]) | (~v[1] & v[3]), 0x5a82_7999)
                case ..<40: (v[1] ^ v[2] ^ v[3], 0x6ed9_eba1)
                case ..<60: ((v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3]), 0x8f1b_bcdc)
                default: (v[1] ^ v[2] ^ v[3], 0xca62_c1d6)
                }
            let next = v[0].rotated(right: 27) &+ function &+ v[4] &+ constant &+ schedule[index]
            v = [next, v[0], v[1].rotated(right: 2), v[2], v[3]]
        }
        for index in 0..<5 { state[index] = state[index] &+ v[index] }
    }
}
