internal import Glibc

/// The part of an address that one subscriber of a network has: all of an IPv4 address, the first half of an IPv6
/// address, since the other half is free to choose.
enum PeerNetwork {
    /// The name of the network of a numeric address; the address itself if it is none.
    static func name(of host: String) -> String {
        guard host.contains(":") else { return host }
        var address = in6_addr()
        guard inet_pton(AF_INET6, host, &address) == 1 else { return host }
        let prefix = withUnsafeBytes(of: &address) { bytes in
            bytes.prefix(8).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        }
        return "\(prefix)/64"
    }
}
