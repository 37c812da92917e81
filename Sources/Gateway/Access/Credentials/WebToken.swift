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

/// Why a token is refused. The texts go to callers and logs: they name the rule, never what the token holds.
enum TokenRefusal: Error, Equatable, CaseIterable {
    /// It is not three parts of base64url with two JSON objects.
    case malformed
    /// Its algorithm is none of those that keys are configured for.
    case algorithm
    /// Its header asks for something that is not understood.
    case header
    /// No key has verified its signature.
    case signature
    /// It has no time of expiry.
    case withoutExpiry
    /// Its time is over.
    case expired
    /// Its time has not come.
    case early
    /// It comes from another issuer.
    case issuer
    /// It is meant for somebody else.
    case audience
    /// It does not say whom it stands for.
    case subject
    /// A claim about rights has another shape than expected.
    case claim

    /// The rule, in one sentence without quotation marks.
    var sentence: String {
        switch self {
        case .malformed: "The token cannot be read."
        case .algorithm: "The algorithm of the token is not accepted."
        case .header: "The header of the token asks for something unknown."
        case .signature: "The signature of the token is not valid."
        case .withoutExpiry: "The token has no time of expiry."
        case .expired: "The token has expired."
        case .early: "The token is not valid yet."
        case .issuer: "The token has another issuer."
        case .audience: "The token is meant for another audience."
        case .subject: "The token names no subject."
        case .claim: "A claim of the token has an unexpected shape."
        }
    }
}

/// Base64 with the URL alphabet and without padding (RFC 4648 section 5, RFC 7515 section 2), strict: each row of bytes
/// has exactly one text.
enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// The text of some bytes.
    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        var (buffer, bits): (UInt32, Int) = (0, 0)
        for byte in bytes {
            buffer = (buffer << 8 | UInt32(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[Int(buffer >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { text.append(alphabet[Int(buffer << UInt32(6 - bits) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// The bytes of a text; nil for other characters, impossible lengths and bits that stand for nothing.
    static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var (buffer, bits): (UInt32, Int) = (0, 0)
        for character in text {
            guard let value = value(of: character) else { return nil }
            buffer = (buffer << 6 | UInt32(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: buffer >> UInt32(bits)))
            }
        }
        let rest = buffer & (1 << UInt32(bits) - 1)
        return bits < 6 && rest == 0 ? bytes : nil
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
