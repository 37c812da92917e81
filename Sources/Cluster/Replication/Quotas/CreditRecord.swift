package import SessionCore

/// The claim of a member that needs more credits of an upstream than it has.
package struct CreditClaim: Sendable, Equatable {
    package let upstream: String
    /// Identifies the decision among those for the writer.
    package let number: UInt64
    /// The credits that the member needs: it gets all of them, or none.
    package let missing: UpstreamCredits
    /// The credits that the member would use soon, `missing` included: it gets as many as are free.
    package let requested: UpstreamCredits
    /// Whether the member can do without, by sharing a session. Its claim takes nothing that another member without a
    /// session may need, and never waits.
    package let isOptional: Bool
    /// The limits of the upstream.
    package let limits: UpstreamCredits

    static let wire = Wire<Self>(
        Self.init,
        (\.upstream, .string),
        (\.number, .varint),
        (\.missing, .credits),
        (\.requested, .credits),
        (\.isOptional, .bool),
        (\.limits, .credits)
    )
}

/// A record about the credits of an upstream: what the members together may have open there.
package enum CreditRecord: Sendable, Equatable {
    /// The writer needs more credits.
    case claim(CreditClaim)
    /// The writer gives back unused credits. `claim`: the position of the claim that the record answers, after which the
    /// writer uses all of its other credits; nil: the record answers no claim.
    case release(upstream: String, UpstreamCredits, claim: UInt64? = nil)
    /// The writer has these credits already, under a former number or because it uses them. Never refused.
    case declare(upstream: String, UpstreamCredits, limits: UpstreamCredits)

    static let wire = Wire<Self>(cases: [
        Case(1, CreditClaim.wire, make: Self.claim) { if case .claim(let claim) = $0 { claim } else { nil } },
        Case(2, .string, .credits, make: { .release(upstream: $0, $1) }) {
            if case .release(let upstream, let credits, nil) = $0 { (upstream, credits) } else { nil }
        },
        Case(3, .string, .credits, .varint, make: { .release(upstream: $0, $1, claim: $2) }) {
            if case .release(let upstream, let credits, let claim?) = $0 { (upstream, credits, claim) } else { nil }
        },
        Case(4, .string, .credits, .credits, make: Self.declare) {
            if case .declare(let upstream, let credits, let limits) = $0 { (upstream, credits, limits) } else { nil }
        },
    ])
}

extension Wire<UpstreamCredits> {
    static let credits = Wire(UpstreamCredits.init, (\.sessions, .size), (\.subscriptions, .size), (\.items, .size))
}
