/// A version of TLCP, `major.minor.subminor`.
package struct ProtocolVersion: Sendable, Hashable, CustomStringConvertible {
    /// Changes with incompatible versions.
    package let major: Int
    /// Changes with additions to the protocol.
    package let minor: Int
    /// Changes without effect on compatibility.
    package let subminor: Int

    /// The version that this package implements.
    package static let current = ProtocolVersion(major: 2, minor: 5, subminor: 0)

    package init(major: Int, minor: Int, subminor: Int) {
        self.major = major
        self.minor = minor
        self.subminor = subminor
    }

    /// Parses a value of `LS_protocol` such as `TLCP-2.5.0`; nil if it is malformed.
    package init?(protocolParameter text: String) {
        guard text.hasPrefix("TLCP-") else { return nil }
        let parts = text.utf8.dropFirst(5).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { WireNumber.count(Array($0)[...]) }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        self.init(major: numbers[0], minor: numbers[1], subminor: numbers[2])
    }

    /// Parses a WebSocket subprotocol such as `TLCP-2.5.0.lightstreamer.com`; nil if it is malformed.
    package init?(webSocketSubprotocol text: String) {
        let suffix = ".lightstreamer.com"
        guard text.hasSuffix(suffix) else { return nil }
        self.init(protocolParameter: String(text.dropLast(suffix.count)))
    }

    /// Parses `LS_protocol` in the query string of an HTTP request; nil if there is none, or if the query is malformed.
    package init?(query: String) {
        let parameters = try? ParameterReader(Array(query.utf8)[...], carrier: .unaddressed)
        guard let text = parameters?.text(.protocol) else { return nil }
        self.init(protocolParameter: text)
    }

    package var description: String { "\(major).\(minor).\(subminor)" }

    /// The value of `LS_protocol`.
    package var protocolParameter: String { "TLCP-\(self)" }

    /// The WebSocket subprotocol; the server echoes the one that the client offers.
    package var webSocketSubprotocol: String { "\(protocolParameter).lightstreamer.com" }

    /// Whether a server of the current version accepts clients of this one: it does if the major versions are equal.
    package var isServed: Bool { major == ProtocolVersion.current.major }
}
