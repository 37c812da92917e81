internal import FoundationEssentials
internal import JSONText

/// A signed token in its compact form (RFC 7515 section 7.1), parsed and not verified yet.
struct WebToken: Sendable {
    /// The longest token that is parsed, in bytes.
    static let longest = 16 * 1024

    let header: JSONObject
    let claims: JSONObject
    /// The signed bytes: header and claims in their encoded form.
    let signedBytes: [UInt8]
    let signature: [UInt8]

    /// Parses a token. A member name that occurs twice is refused, since parsers differ in which one they take.
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

    /// Whether a text has the form of a token.
    static func isOne(_ text: String) -> Bool { text.utf8.count { $0 == UInt8(ascii: ".") } == 2 }

    private static func object(_ part: ArraySlice<UInt8>) -> JSONObject? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONValue(parsing: bytes, maxDepth: 16).object
    }
}

/// The reason why a token is refused, in one sentence without quotation marks. The texts go to callers and logs: they name the
/// rule, never the content.
enum TokenRefusal: String, Error, CaseIterable {
    /// The token is not three parts of base64url with two JSON objects.
    case malformed = "The token cannot be read."
    /// No key is for its algorithm: none was configured, or the JWK set has lost all of them.
    case algorithm = "The gateway has no key for the algorithm of the token."
    /// The keys of its algorithm have other identifiers, as before a rotation or after it.
    case identifier = "The gateway has no key with the identifier (kid) of the token."
    /// The header has a critical parameter, or a type, that the gateway does not support.
    case header = "The header of the token has an unsupported parameter."
    case signature = "The signature of the token is not valid."
    /// No key verifies the token, and the JWK set of the configured URL is not loaded yet.
    case withoutKeySet = "The keys that verify the token are not loaded yet."
    case withoutExpiry = "The token has no expiry time."
    case expired = "The token has expired."
    case lifetime = "The token is valid for longer than auth.jwt.maxLifetime permits."
    case early = "The token is not valid yet."
    case issuer = "The token has another issuer."
    case audience = "The token is for another audience."
    case subject = "The token has no subject."
    // A claim about rights has an unexpected type or value. The claims are named by the rights, since the configuration may give
    // them other names.
    case operations = "The claim of the token for operations must be words in a string or a list."
    case upstreams = "The claim of the token for upstreams must be words in a string or a list."
    case items = "The claim of the token for items must be words in a string or a list."
    case dataAdapters = "The claim of the token for dataAdapters must be words in a string or a list."
    case feeds = "The claim of the token for feeds must be words in a string or a list."
    case streams = "The claim of the token for streams must be a whole number, 0 or greater."
    case rate = "The claim of the token for rate must be a number greater than 0."

    /// The problem of a request with the token. A token whose key may be in a set that is not loaded yet may be valid: its
    /// holder tries again, and does not sign in again.
    var problem: Problem {
        self == .withoutKeySet ? Problem(.unavailable, detail: rawValue) : Challenge.invalid(rawValue)
    }
}

/// Base64 with the URL alphabet and without padding (RFC 4648 section 5, RFC 7515 section 2), read strictly: a sequence
/// of bytes has exactly one text.
package enum Base64URL {
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let padded = Data(bytes).base64EncodedString()
        return String(padded.prefix { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// The bytes of a text; nil for other characters, padding, impossible lengths and unused bits that are not 0.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        let text = Array(text)
        var padded = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while !padded.count.isMultiple(of: 4) { padded.append(UInt8(ascii: "=")) }
        guard let bytes = Data(base64Encoded: Data(padded)), Array(encode(bytes).utf8) == text else { return nil }
        return Array(bytes)
    }
}
