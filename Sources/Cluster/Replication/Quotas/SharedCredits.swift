internal import SessionCore

/// The credits of the upstreams: what each member may have open, and the claims that are not decided yet.
///
/// ```text
///            credits are free                           ┌─ enough were released ──▶ accepted
/// claim ──┬──────────────────▶ accepted                 │
///         └─ other members have unused ones ──▶ waits ──┤
///                                                       └─ all have answered ─────▶ refused
/// ```
///
/// A claim that waits is a request to the members in `awaited`: each releases what it does not use and answers.
struct SharedCredits: Sendable, Equatable {
    /// A claim that waits.
    struct Waiting: Sendable, Equatable {
        let claim: CreditClaim
        let member: UInt64
        let position: UInt64
        /// The members that have not answered yet, in ascending order.
        var awaited: [UInt64]
    }

    /// The credits of one upstream.
    struct Upstream: Sendable, Equatable {
        /// The limits in the newest record; nil: no record has had them.
        var limits: UpstreamCredits?
        /// Whether the epoch has had a claim: by then, the members have declared what they have.
        var isDeclared = false
        /// What each member has; no entry for a member without credits.
        var held: [UInt64: UpstreamCredits] = [:]
        /// The claims that wait, oldest first.
        var waiting: [Waiting] = []

        /// What no member has.
        var free: UpstreamCredits {
            guard let limits else { return .none }
            return limits - held.values.reduce(.none, +)
        }

        mutating func add(_ credits: UpstreamCredits, to member: UInt64) {
            if !credits.isNone { held[member, default: .none] += credits }
        }

        mutating func remove(_ credits: UpstreamCredits, from member: UInt64) {
            guard var rest = held[member] else { return }
            rest -= credits
            held[member] = rest.isNone ? nil : rest
        }

        /// Whether a member has a session.
        func hasSession(_ member: UInt64) -> Bool { held[member].map { $0.sessions > 0 } ?? false }

        /// Whether a session beyond the first one of a member would leave one for each of these members without one.
        func sparesSession(for members: some Sequence<UInt64>) -> Bool {
            free.sessions > members.reduce(0) { $0 + (hasSession($1) ? 0 : 1) }
        }
    }

    var upstreams: [String: Upstream] = [:]

    subscript(_ name: String) -> Upstream {
        get { upstreams[name] ?? Upstream() }
        set { upstreams[name] = newValue }
    }

    /// Of these members, those that may carry subscriptions of an upstream: all, or while no session is free, those that
    /// have one.
    func carriers(of name: String, among members: [UInt64]) -> [UInt64] {
        guard let upstream = upstreams[name], upstream.limits != nil, upstream.free.sessions == 0 else {
            return members
        }
        let carriers = members.filter(upstream.hasSession)
        return carriers.isEmpty ? members : carriers
    }

    /// Gives a member what it needs for subscriptions that it was assigned, as far as it is free. Returns what it gets.
    ///
    /// - Parameters:
    ///   - credits: The subscriptions and items, and a session if the member should have one more.
    ///   - members: The members that have the upstream.
    mutating func assign(
        _ credits: UpstreamCredits,
        of name: String,
        to member: UInt64,
        among members: [UInt64]
    ) -> UpstreamCredits {
        guard let upstream = upstreams[name], upstream.isDeclared else { return .none }
        var given = credits
        if upstream.hasSession(member), !upstream.sparesSession(for: members) { given.sessions = 0 }
        given = given.limited(to: upstream.free)
        upstreams[name]?.add(given, to: member)
        return given
    }

    /// Removes the credits and the claims of a removed member.
    mutating func release(all member: UInt64) {
        for name in upstreams.keys {
            upstreams[name]?.held[member] = nil
            upstreams[name]?.waiting.removeAll { $0.member == member }
            answered(member, in: name) { _ in true }
        }
    }

    /// A member has answered claims that wait.
    mutating func answered(_ member: UInt64, in name: String, where isAnswered: (Waiting) -> Bool) {
        guard var upstream = upstreams[name] else { return }
        for index in upstream.waiting.indices where isAnswered(upstream.waiting[index]) {
            upstream.waiting[index].awaited.removeAll { $0 == member }
        }
        upstreams[name] = upstream
    }

    /// Decides the claims that can be decided now, and returns them with the credits that they get; nil: refused.
    mutating func settled(_ name: String) -> [(waiting: Waiting, given: UpstreamCredits?)] {
        guard var upstream = upstreams[name], !upstream.waiting.isEmpty else { return [] }
        var decided: [(waiting: Waiting, given: UpstreamCredits?)] = []
        var undecided: [Waiting] = []
        for waiting in upstream.waiting {
            if upstream.free.covers(waiting.claim.missing) {
                upstream.add(waiting.claim.missing, to: waiting.member)
                decided.append((waiting, waiting.claim.missing))
            } else if waiting.awaited.isEmpty {
                decided.append((waiting, nil))
            } else {
                undecided.append(waiting)
            }
        }
        upstream.waiting = undecided
        upstreams[name] = upstream
        return decided
    }
}

extension Wire<SharedCredits> {
    static let sharedCredits = Wire(SharedCredits.init, (\.upstreams, .dictionary(.string, .upstreamCredits)))
}

extension Wire<SharedCredits.Upstream> {
    fileprivate static let upstreamCredits = Wire(
        SharedCredits.Upstream.init,
        (\.limits, .optional(.credits)),
        (\.isDeclared, .bool),
        (\.held, .dictionary(.fixed64, .credits)),
        (\.waiting, .list(.waiting))
    )
}

extension Wire<SharedCredits.Waiting> {
    fileprivate static let waiting = Wire(
        SharedCredits.Waiting.init,
        (\.claim, .claim),
        (\.member, .fixed64),
        (\.position, .varint),
        (\.awaited, .list(.fixed64))
    )
}
