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
