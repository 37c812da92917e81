/// The hash functions that HTTP, WebSocket and certificate pins name: MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4). Connections
/// hash some hundred bytes; a library of hash functions would take as long to compile as all of TLS.
package enum MessageDigest: Sendable {
    case md5
    case sha1
    case sha256

    private static let blockLength = 64

    /// The length of a hash, in bytes.
    package var length: Int {
        switch self {
        case .md5: 16
        case .sha1: 20
        case .sha256: 32
        }
    }

    package func hash(_ bytes: [UInt8]) -> [UInt8] {
        let padded = padded(bytes)
        var state = self == .sha256 ? Self.squareRoots : Array(Self.start[..<(length / 4)])
        for block in stride(from: 0, to: padded.count, by: Self.blockLength) {
            let words = (0..<16).map { word(in: padded, at: block + 4 * $0) }
            let mixed =
                switch self {
                case .md5: Self.md5(state, words)
                case .sha1: Self.sha1(state, words)
                case .sha256: Self.sha256(state, words)
                }
            for index in state.indices { state[index] &+= mixed[index] }
        }
        return state.flatMap { word in self.bytes(of: UInt64(word), count: 4) }
    }

    /// The bytes, a one, zeros up to a whole number of blocks, and the number of bits.
    private func padded(_ bytes: [UInt8]) -> [UInt8] {
        let zeros = (2 * Self.blockLength - 9 - bytes.count % Self.blockLength) % Self.blockLength
        return bytes + [0x80] + [UInt8](repeating: 0, count: zeros) + self.bytes(of: UInt64(bytes.count) * 8, count: 8)
    }

    // MARK: - Numbers as bytes

    /// MD5 has the lowest byte first, the others the highest one.
    private func shift(of byte: Int, count: Int) -> Int { 8 * (self == .md5 ? byte : count - 1 - byte) }

    private func bytes(of number: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> shift(of: $0, count: count)) }
    }

    private func word(in bytes: [UInt8], at index: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[index + $1]) << shift(of: $1, count: 4) }
    }

    private static func rotated(_ word: UInt32, _ count: Int) -> UInt32 { word << count | word >> (32 - count) }

    // MARK: - One block

    private static func md5(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        for step in 0..<64 {
            let (mixed, place) =
                switch step / 16 {
                case 0: (b & c | ~b & d, step)
                case 1: (d & b | ~d & c, 5 * step + 1)
                case 2: (b ^ c ^ d, 3 * step + 5)
                default: (c ^ (b | ~d), 7 * step)
                }
            let turns = rotations[step / 16][step % 4]
            let next = b &+ rotated(a &+ mixed &+ sines[step] &+ words[place % 16], turns)
            (a, b, c, d) = (d, next, b, c)
        }
        return [a, b, c, d]
    }

    private static func sha1(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        var words = words
        for step in 16..<80 {
            words.append(rotated(words[step - 3] ^ words[step - 8] ^ words[step - 14] ^ words[step - 16], 1))
        }
        var (a, b, c, d, e) = (state[0], state[1], state[2], state[3], state[4])
        for step in 0..<80 {
            let (mixed, constant): (UInt32, UInt32) =
                switch step / 20 {
                case 0: (b & c | ~b & d, 0x5A82_7999)
                case 1: (b ^ c ^ d, 0x6ED9_EBA1)
                case 2: (b & c | b & d | c & d, 0x8F1B_BCDC)
                default: (b ^ c ^ d, 0xCA62_C1D6)
                }
            let next = rotated(a, 5) &+ mixed &+ e &+ constant &+ words[step]
            (a, b, c, d, e) = (next, a, rotated(b, 30), c, d)
        }
        return [a, b, c, d, e]
    }

    private static func sha256(_ state: [UInt32], _ words: [UInt32]) -> [UInt32] {
        /// The sum without carry of a word in three rotations.
        func turned(_ word: UInt32, _ one: Int, _ two: Int, _ three: Int) -> UInt32 {
            rotated(word, 32 - one) ^ rotated(word, 32 - two) ^ rotated(word, 32 - three)
        }
        var words = words
        for step in 16..<64 {
            let (early, late) = (words[step - 15], words[step - 2])
            let one = rotated(early, 25) ^ rotated(early, 14) ^ early >> 3
            let two = rotated(late, 15) ^ rotated(late, 13) ^ late >> 10
            words.append(words[step - 16] &+ one &+ words[step - 7] &+ two)
        }
        var s = state
        for step in 0..<64 {
            let choice = s[4] & s[5] ^ ~s[4] & s[6]
            let majority = s[0] & s[1] ^ s[0] & s[2] ^ s[1] & s[2]
            let first = s[7] &+ turned(s[4], 6, 11, 25) &+ choice &+ cubeRoots[step] &+ words[step]
            let second = turned(s[0], 2, 13, 22) &+ majority
            s = [first &+ second, s[0], s[1], s[2], s[3] &+ first, s[4], s[5], s[6]]
        }
        return s
    }

    // MARK: - Constants

    /// The first state of MD5, four words, and of SHA-1.
    private static let start: [UInt32] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0]

    /// The rotations of MD5 in each quarter.
    private static let rotations = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]]

    /// The first state of SHA-256: the first 32 bits behind the point of the square roots of the first 8 primes.
    private static let squareRoots: [UInt32] = [
        0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]

    /// The same of the cube roots of the first 64 primes.
    private static let cubeRoots: [UInt32] = [
        0x428A_2F98, 0x7137_4491, 0xB5C0_FBCF, 0xE9B5_DBA5, 0x3956_C25B, 0x59F1_11F1, 0x923F_82A4, 0xAB1C_5ED5,
        0xD807_AA98, 0x1283_5B01, 0x2431_85BE, 0x550C_7DC3, 0x72BE_5D74, 0x80DE_B1FE, 0x9BDC_06A7, 0xC19B_F174,
        0xE49B_69C1, 0xEFBE_4786, 0x0FC1_9DC6, 0x240C_A1CC, 0x2DE9_2C6F, 0x4A74_84AA, 0x5CB0_A9DC, 0x76F9_88DA,
        0x983E_5152, 0xA831_C66D, 0xB003_27C8, 0xBF59_7FC7, 0xC6E0_0BF3, 0xD5A7_9147, 0x06CA_6351, 0x1429_2967,
        0x27B7_0A85, 0x2E1B_2138, 0x4D2C_6DFC, 0x5338_0D13, 0x650A_7354, 0x766A_0ABB, 0x81C2_C92E, 0x9272_2C85,
        0xA2BF_E8A1, 0xA81A_664B, 0xC24B_8B70, 0xC76C_51A3, 0xD192_E819, 0xD699_0624, 0xF40E_3585, 0x106A_A070,
        0x19A4_C116, 0x1E37_6C08, 0x2748_774C, 0x34B0_BCB5, 0x391C_0CB3, 0x4ED8_AA4A, 0x5B9C_CA4F, 0x682E_6FF3,
        0x748F_82EE, 0x78A5_636F, 0x84C8_7814, 0x8CC7_0208, 0x90BE_FFFA, 0xA450_6CEB, 0xBEF9_A3F7, 0xC671_78F2,
    ]

    /// The same of the absolute sines of 1 to 64, for MD5.
    private static let sines: [UInt32] = [
        0xD76A_A478, 0xE8C7_B756, 0x2420_70DB, 0xC1BD_CEEE, 0xF57C_0FAF, 0x4787_C62A, 0xA830_4613, 0xFD46_9501,
        0x6980_98D8, 0x8B44_F7AF, 0xFFFF_5BB1, 0x895C_D7BE, 0x6B90_1122, 0xFD98_7193, 0xA679_438E, 0x49B4_0821,
        0xF61E_2562, 0xC040_B340, 0x265E_5A51, 0xE9B6_C7AA, 0xD62F_105D, 0x0244_1453, 0xD8A1_E681, 0xE7D3_FBC8,
        0x21E1_CDE6, 0xC337_07D6, 0xF4D5_0D87, 0x455A_14ED, 0xA9E3_E905, 0xFCEF_A3F8, 0x676F_02D9, 0x8D2A_4C8A,
        0xFFFA_3942, 0x8771_F681, 0x6D9D_6122, 0xFDE5_380C, 0xA4BE_EA44, 0x4BDE_CFA9, 0xF6BB_4B60, 0xBEBF_BC70,
        0x289B_7EC6, 0xEAA1_27FA, 0xD4EF_3085, 0x0488_1D05, 0xD9D4_D039, 0xE6DB_99E5, 0x1FA2_7CF8, 0xC4AC_5665,
        0xF429_2244, 0x432A_FF97, 0xAB94_23A7, 0xFC93_A039, 0x655B_59C3, 0x8F0C_CC92, 0xFFEF_F47D, 0x8584_5DD1,
        0x6FA8_7E4F, 0xFE2C_E6E0, 0xA301_4314, 0x4E08_11A1, 0xF753_7E82, 0xBD3A_F235, 0x2AD7_D2BB, 0xEB86_D391,
    ]
}
