package import TLCP

extension ProtocolVersion {
    /// The version to try when a server refuses this one, down to 2.1.0; nil after the oldest.
    package var older: ProtocolVersion? {
        guard major == 2, minor > 1 else { return nil }
        return ProtocolVersion(major: 2, minor: minor - 1, subminor: 0)
    }
}
