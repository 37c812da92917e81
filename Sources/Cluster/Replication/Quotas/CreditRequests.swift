package import Primitives
package import SessionCore

/// The requests of a member that wait for credits of an upstream. One claim at a time is undecided for each upstream.
package struct CreditRequests<Request: Sendable>: Sendable {
    /// A request, and the credits that it needs.
    package struct Waiting: Sendable {
        package let missing: UpstreamCredits
        /// Whether the request can do without the session among it.
        package let isOptional: Bool
        package let request: Request
    }

    private struct Upstream {
        var waiting: [Waiting] = []
        var isClaimed = false
        /// The credits for requests that are being performed.
        var reserved = UpstreamCredits.none
    }

    private var upstreams: [String: Upstream] = [:]
    private var claims: UInt64 = 0
    private var intervalEnd = Moment.zero

    /// The credits that a claim adds to the needs of the requests, so that the next requests need no claim.
    private let chunk: UpstreamCredits

    package init(chunk: UpstreamCredits = UpstreamCredits(subscriptions: 32, items: 512)) { self.chunk = chunk }

    /// Adds a request that needs credits of an upstream.
    package mutating func add(_ request: Request, missing: UpstreamCredits, isOptional: Bool, of upstream: String) {
        let waiting = Waiting(missing: missing, isOptional: isOptional, request: request)
        upstreams[upstream, default: Upstream()].waiting.append(waiting)
    }

    /// The claim to write now: of what the oldest request needs. Nil if no request waits, or a claim is undecided.
    package mutating func nextClaim(of name: String, limits: UpstreamCredits) -> CreditClaim? {
        guard let upstream = upstreams[name], !upstream.isClaimed, let first = upstream.waiting.first else {
            return nil
        }
        upstreams[name]?.isClaimed = true
        claims += 1
        var requested = upstream.waiting.reduce(chunk) { $0 + $1.missing }
        requested.sessions = first.missing.sessions
        return CreditClaim(
            upstream: name,
            number: claims,
            missing: first.missing,
            requested: requested,
            isOptional: first.isOptional,
            limits: limits
        )
    }

    /// The log has accepted a claim: returns the requests to perform again. Each of them needs one call of `ended`.
    package mutating func accepted(_ claim: CreditClaim) -> [Waiting] {
        let requests = undecided(claim)
        for request in requests { upstreams[claim.upstream]?.reserved += request.missing }
        return requests
    }

    /// The log has refused a claim: returns the requests that need at least as much.
    package mutating func refused(_ claim: CreditClaim) -> [Waiting] {
        let waiting = undecided(claim)
        let needAsMuch = { (waiting: Waiting) in
            waiting.isOptional == claim.isOptional && waiting.missing.covers(claim.missing)
        }
        upstreams[claim.upstream]?.waiting = waiting.filter { !needAsMuch($0) }
        return waiting.filter(needAsMuch)
    }

    /// The decision on a claim was not received: returns all requests.
    package mutating func undecided(_ claim: CreditClaim) -> [Waiting] {
        upstreams[claim.upstream]?.isClaimed = false
        defer { upstreams[claim.upstream]?.waiting = [] }
        return upstreams[claim.upstream]?.waiting ?? []
    }

    /// A request was performed with new credits, or was not performed after all.
    package mutating func ended(_ missing: UpstreamCredits, of upstream: String) {
        upstreams[upstream]?.reserved -= missing
    }

    /// The unused credits that requests are going to use.
    package func reserved(of upstream: String) -> UpstreamCredits { upstreams[upstream]?.reserved ?? .none }

    /// Whether an interval has ended, after which credits are released that were not used throughout.
    package mutating func endsInterval(_ length: Duration, at now: Moment) -> Bool {
        guard now >= intervalEnd else { return false }
        intervalEnd = now + length
        return true
    }
}
