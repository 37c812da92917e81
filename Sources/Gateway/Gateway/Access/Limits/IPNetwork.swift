internal import Glibc

/// An IP address with the length of its network prefix. IPv4 addresses are kept in their IPv6-mapped form, so that both
/// notations of an address are equal.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]

    private let bytes: [UInt8]
    private let prefixLength: Int

    /// The text that it was read from.
    package let description: String

    /// Reads an address, or a network as `ADDRESS/LENGTH`; nil for other text. The bits after the prefix are ignored.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = Self.address(String(parts[0])) else { return nil }
        var length = 128
        if parts.count == 2 {
            let longest = address.isIPv4 ? 32 : 128
            guard let number = Int(parts[1]), String(number) == parts[1], (0...longest).contains(number) else {
                return nil
            }
            length = 128 - longest + number
        }
        bytes = address.bytes
        prefixLength = length
        description = text
    }

    /// Whether a numeric address belongs to the network; false for other text.
    package func contains(_ host: String) -> Bool {
        guard let address = Self.address(host) else { return false }
        let (whole, rest) = prefixLength.quotientAndRemainder(dividingBy: 8)
        guard address.bytes[..<whole] == bytes[..<whole] else { return false }
        return rest == 0 || (address.bytes[whole] ^ bytes[whole]) >> UInt8(8 - rest) == 0
    }

    /// The part of an address that identifies a network subscriber: a whole IPv4 address, or the first 64 bits of an
    /// IPv6 address, since subscribers choose the other bits themselves. The text itself if it is not an address.
    static func subscriber(of host: String) -> String {
        guard host.contains(":"), let address = address(host) else { return host }
        if address.isIPv4 { return address.bytes[12...].map { "\($0)" }.joined(separator: ".") }
        let prefix = address.bytes[..<8].map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        return "\(prefix)/64"
    }

    private static func address(_ text: String) -> (bytes: [UInt8], isIPv4: Bool)? {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            return (mappedPrefix + withUnsafeBytes(of: &four) { Array($0) }, true)
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        let bytes = withUnsafeBytes(of: &six) { Array($0) }
        return (bytes, Array(bytes[..<12]) == mappedPrefix)
    }
}
