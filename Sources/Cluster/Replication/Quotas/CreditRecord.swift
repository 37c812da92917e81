package import SessionCore

/// The claim of a member that needs more credits of an upstream than it has.
package struct CreditClaim: Sendable, Equatable {
    /// The upstream.
    package let upstream: String
    /// Identifies the decision among those for the writer.
    package let number: UInt64
    /// What the member needs: it gets all of it, or nothing.
    package let missing: UpstreamCredits
    /// What the member would use soon, `missing` included: it gets what is free of it.
    package let wanted: UpstreamCredits
    /// Whether the member can do without, by sharing a session. Its claim takes nothing that another member without a
    /// session may need, and never waits.
    package let isOptional: Bool
    /// The limits of the upstream.
    package let limits: UpstreamCredits

    /// A claim.
    package init(
        upstream: String,
        number: UInt64,
        missing: UpstreamCredits,
        wanted: UpstreamCredits,
        isOptional: Bool = false,
        limits: UpstreamCredits
    ) {
        self.upstream = upstream
        self.number = number
        self.missing = missing
        self.wanted = wanted
        self.isOptional = isOptional
        self.limits = limits
    }
}

/// A record about the credits of an upstream: what the members together may have open there.
package enum CreditRecord: Sendable, Equatable {
    /// The writer needs more credits.
    case claim(CreditClaim)
    /// The writer gives back credits that it does not use.
    case release(upstream: String, UpstreamCredits)
    /// As `release`, for the claim at a position that waits for it. The writer uses what it still has.
    case yield(upstream: String, UpstreamCredits, claim: UInt64)
    /// The writer has these credits already, under a former number or because it uses them. Never refused.
    case declare(upstream: String, UpstreamCredits, limits: UpstreamCredits)
}

/// One byte for each case of a `CreditRecord`.
private enum CreditTag {
    static let claim: UInt8 = 1
    static let release: UInt8 = 2
    static let yield: UInt8 = 3
    static let declare: UInt8 = 4
}

extension ByteWriter {
    mutating func credit(_ record: CreditRecord) {
        switch record {
        case .claim(let claim):
            byte(CreditTag.claim)
            self.claim(claim)
        case .release(let upstream, let credits):
            byte(CreditTag.release)
            string(upstream)
            self.credits(credits)
        case .yield(let upstream, let credits, let claim):
            byte(CreditTag.yield)
            string(upstream)
            self.credits(credits)
            varint(claim)
        case .declare(let upstream, let credits, let limits):
            byte(CreditTag.declare)
            string(upstream)
            self.credits(credits)
            self.credits(limits)
        }
    }

    mutating func claim(_ claim: CreditClaim) {
        string(claim.upstream)
        varint(claim.number)
        credits(claim.missing)
        credits(claim.wanted)
        bool(claim.isOptional)
        credits(claim.limits)
    }

    mutating func credits(_ credits: UpstreamCredits) {
        for number in [credits.sessions, credits.subscriptions, credits.items] { size(max(0, number)) }
    }
}

extension ByteReader {
    mutating func credit() throws(CodingError) -> CreditRecord {
        switch try byte() {
        case CreditTag.claim: return .claim(try claim())
        case CreditTag.release: return .release(upstream: try string(), try credits())
        case CreditTag.yield: return .yield(upstream: try string(), try credits(), claim: try varint())
        case CreditTag.declare: return .declare(upstream: try string(), try credits(), limits: try credits())
        default: throw .malformed
        }
    }

    mutating func claim() throws(CodingError) -> CreditClaim {
        CreditClaim(
            upstream: try string(),
            number: try varint(),
            missing: try credits(),
            wanted: try credits(),
            isOptional: try bool(),
            limits: try credits()
        )
    }

    mutating func credits() throws(CodingError) -> UpstreamCredits {
        UpstreamCredits(sessions: try size(), subscriptions: try size(), items: try size())
    }
}
