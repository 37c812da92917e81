internal import Synchronization
internal import TLCP

/// Which protocol version servers were found to speak, for clients made later in this process.
final class VersionMemory: Sendable {
    /// The one of the process.
    static let shared = VersionMemory()
    /// How many addresses are remembered; then all are forgotten and found out again.
    private static let bound = 1_000

    private let versions = Mutex<[String: ProtocolVersion]>([:])

    func remember(_ version: ProtocolVersion, for address: String) {
        versions.withLock { versions in
            if versions.count >= Self.bound { versions = [:] }
            versions[address] = version
        }
    }

    func version(for address: String) -> ProtocolVersion? { versions.withLock { $0[address] } }
}
