package import TLCP

/// The protocol version of requests: lowered step by step while the server refuses it, and kept for the address.
struct VersionFallback {
    private let first: ProtocolVersion
    private var address: String?
    private(set) var current: ProtocolVersion

    init(_ first: ProtocolVersion) {
        self.first = first
        current = first
    }

    /// A session is being created at this address; another address may support another version.
    mutating func creating(at address: String) {
        if let known = self.address, known != address { current = .current }
        self.address = address
    }

    /// The server refused the version. Returns false if there is no older one: then the version was not the reason, and
    /// the first version is restored.
    mutating func refused() -> Bool {
        guard let older = current.older else {
            current = first
            return false
        }
        current = older
        return true
    }
}

extension ProtocolVersion {
    /// The version to try when a server refuses this one, down to 2.1.0; nil after the oldest.
    package var older: ProtocolVersion? {
        guard major == 2, minor > 1 else { return nil }
        return ProtocolVersion(major: 2, minor: minor - 1, subminor: 0)
    }
}
