/// The hosts and ports that a client may connect to. Names are compared as written, without regard to case, before
/// any name lookup.
package struct AddressAllowList: Sendable, Equatable {
    /// One allowed host and port.
    package struct Entry: Sendable, Hashable {
        /// The host name or literal address without brackets; nil: any host.
        package var host: String?
        /// The port; nil: any port.
        package var port: Int?

        /// An entry.
        package init(host: String?, port: Int?) {
            self.host = host?.lowercased()
            self.port = port
        }
    }

    /// The entries; an address is allowed when at least one of them holds it.
    package var entries: [Entry]

    /// A list.
    package init(_ entries: [Entry]) { self.entries = entries }

    /// Whether an `http` or `https` URL may be connected to; false for one that cannot be understood.
    package func allows(_ address: String) -> Bool {
        guard let server = ServerAddress(address) else { return false }
        return entries.contains { entry in
            (entry.host ?? server.host.lowercased()) == server.host.lowercased()
                && (entry.port ?? server.effectivePort) == server.effectivePort
        }
    }
}
