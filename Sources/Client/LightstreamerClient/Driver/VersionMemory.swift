internal import Primitives
internal import TLCP

/// The protocol versions that servers were found to support, for clients created later in this process.
final class VersionMemory: Sendable {
    static let shared = VersionMemory()
    /// The maximum number of addresses; when it is reached all are removed.
    private static let bound = 1_000

    private let versions = RankedMutex<[String: ProtocolVersion]>([:])

    func remember(_ version: ProtocolVersion, for address: String) {
        versions.withLock { versions in
            if versions.count >= Self.bound { versions = [:] }
            versions[address] = version
        }
    }

    func version(for address: String) -> ProtocolVersion? { versions.withLock { $0[address] } }
}
