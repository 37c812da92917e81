internal import Primitives

/// Rendezvous hashing: all members choose the same member for a text without communication, and the choices for
/// different texts are independent of each other.
enum Rendezvous {
    /// Members in the order of their rank for a hash.
    static func ranking(of members: some Collection<UInt64>, for hash: UInt64) -> [UInt64] {
        members
            .map { (rank: SplitMix64.mixed(SplitMix64.mixed(hash) ^ $0), member: $0) }
            .sorted { ($0.rank, $0.member) > ($1.rank, $1.member) }
            .map(\.member)
    }
}
