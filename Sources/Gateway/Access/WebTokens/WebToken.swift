internal import JSONText

/// A signed token in its compact form (RFC 7515 section 7.1), taken apart and not yet believed.
struct WebToken: Sendable {
    /// The longest token that is looked at, in bytes.
    static let longest = 16 * 1024

    /// The header.
    let header: JSONObject
    /// What it claims.
    let claims: JSONObject
    /// What is signed: header and claims as they came.
    let signedBytes: [UInt8]
    /// The signature.
    let signature: [UInt8]

    /// Takes a token apart; a name that occurs twice is refused, since readers differ in which one counts.
    init(_ text: String) throws(TokenRefusal) {
        let bytes = Array(text.utf8)
        guard bytes.count <= Self.longest else { throw .malformed }
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        self.header = header
        self.claims = claims
        self.signature = signature
        signedBytes = Array(bytes[..<parts[1].endIndex])
    }

    /// Whether a text has the shape of a token, so that it may be tried as one.
    static func isOne(_ text: String) -> Bool { text.utf8.count { $0 == UInt8(ascii: ".") } == 2 }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONValue(parsing: bytes, maxDepth: 16).object
    }
}
