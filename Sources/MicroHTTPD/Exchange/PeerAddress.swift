/// The network address of a client.
package struct PeerAddress: Sendable, Hashable {
    /// The numeric address, IPv4-mapped IPv6 written as IPv4; empty if the system did not tell.
    package var host: String
    /// The port; 0 if the system did not tell.
    package var port: UInt16

    /// An address from its parts.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }
}
