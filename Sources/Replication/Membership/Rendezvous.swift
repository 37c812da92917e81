/// Rendezvous hashing: all members choose the same member for a text without communication, and the choices for
/// different texts are independent of each other.
enum Rendezvous {
    /// A hash of a text that is the same in every process (FNV-1a).
    static func hash(_ text: String) -> UInt64 {
        text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The next number of a pseudo-random sequence (SplitMix64).
    static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Members in the order of their rank for a hash.
    static func ranking(of members: some Collection<UInt64>, for hash: UInt64) -> [UInt64] {
        members
            .map { (rank: mixed(mixed(hash) ^ $0), member: $0) }
            .sorted { ($0.rank, $0.member) > ($1.rank, $1.member) }
            .map(\.member)
    }
}
