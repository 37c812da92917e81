internal import Glibc

extension PeerAddress {
    /// The address in a system structure; empty for another family than IPv4 and IPv6.
    init(_ address: UnsafePointer<sockaddr>?) {
        self.init(host: "", port: 0)
        guard let address else { return }
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET:
            var ipv4 = raw.loadUnaligned(as: sockaddr_in.self)
            host = Self.text(AF_INET, &ipv4.sin_addr)
            port = UInt16(bigEndian: ipv4.sin_port)
        case AF_INET6:
            var ipv6 = raw.loadUnaligned(as: sockaddr_in6.self)
            host = Self.text(AF_INET6, &ipv6.sin6_addr)
            port = UInt16(bigEndian: ipv6.sin6_port)
            if host.hasPrefix("::ffff:"), host.contains(".") {
                host.removeFirst(7)
            }
        default:
            break
        }
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(INET6_ADDRSTRLEN)) { buffer in
            guard let start = buffer.baseAddress,
                let text = inet_ntop(family, address, start, socklen_t(buffer.count))
            else { return "" }
            return String(cString: text)
        }
    }
}
