package import SessionCore

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
package struct SharedCredits: Sendable, Equatable {
    struct Waiting: Sendable, Equatable {
        let claim: CreditClaim
        let member: UInt64
        let position: UInt64
        /// The members that have not answered yet, in ascending order.
        var awaited: [UInt64]

        static let wire = Wire<Self>(
            Self.init,
            (\.claim, CreditClaim.wire),
            (\.member, .fixed64),
            (\.position, .varint),
            (\.awaited, .list(.fixed64))
        )
    }

    /// The credits of one upstream.
    package struct Upstream: Sendable, Equatable {
        /// The limits in the newest record; nil: no record has had them.
        var limits: UpstreamCredits?
        /// Whether the epoch has had a claim: by then, the members have declared what they have.
        var isDeclared = false
        /// The credits of each member; no entry for a member without credits.
        var held: [UInt64: UpstreamCredits] = [:]
        /// The claims that wait, oldest first.
        var waiting: [Waiting] = []

        /// The credits that no member has.
        package var free: UpstreamCredits {
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

        func hasSession(_ member: UInt64) -> Bool { held[member].map { $0.sessions > 0 } ?? false }

        /// Whether a session beyond the first one of a member would leave one for each of these members without one.
        func sparesSession(for members: some Sequence<UInt64>) -> Bool {
            free.sessions > members.reduce(0) { $0 + (hasSession($1) ? 0 : 1) }
        }

        static let wire = Wire<Self>(
            Self.init,
            (\.limits, .optional(.credits)),
            (\.isDeclared, .bool),
            (\.held, .dictionary(.fixed64, .credits)),
            (\.waiting, .list(Waiting.wire))
        )
    }

    var upstreams: [String: Upstream] = [:]

    package internal(set) subscript(_ name: String) -> Upstream {
        get { upstreams[name] ?? Upstream() }
        set { upstreams[name] = newValue }
    }

    /// Of these members, those that may carry subscriptions of an upstream: all, or while none is free, those with a session.
    func carriers(of name: String, among members: [UInt64]) -> [UInt64] {
        guard let upstream = upstreams[name], upstream.limits != nil, upstream.free.sessions == 0 else {
            return members
        }
        let carriers = members.filter(upstream.hasSession)
        return carriers.isEmpty ? members : carriers
    }

    /// Gives a member credits for subscriptions that were assigned to it, as far as credits are free. Returns the given ones.
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

    mutating func answered(_ member: UInt64, in name: String, where isAnswered: (Waiting) -> Bool) {
        for index in self[name].waiting.indices where isAnswered(self[name].waiting[index]) {
            self[name].waiting[index].awaited.removeAll { $0 == member }
        }
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

    static let wire = Wire<Self>(Self.init, (\.upstreams, .dictionary(.string, Upstream.wire)))
}

/// The decisions about the credits of upstreams.
extension ClusterLedger {
    /// Whether the claim at a position waits for the answer of a member.
    func awaits(_ member: UInt64, for position: UInt64, of upstream: String) -> Bool {
        credits[upstream].waiting.contains { $0.position == position && $0.awaited.contains(member) }
    }

    /// The members that can carry subscriptions of an upstream which a member cannot, because all sessions belong to
    /// other members; in the order of their rank for a hash.
    package func carriers(of upstream: String, insteadOf member: UInt64, for hash: UInt64) -> [UInt64] {
        let carriers = credits.carriers(of: upstream, among: able(upstream))
        return carriers.contains(member) ? [] : Rendezvous.ranking(of: carriers, for: hash)
    }

    /// The members that have an upstream.
    func able(_ upstream: String) -> [UInt64] {
        members.filter { $0.value.info.upstreams.contains(upstream) }.map(\.key)
    }

    mutating func apply(_ record: CreditRecord, by member: UInt64) {
        switch record {
        case .claim(let claim): apply(claim, by: member)
        case .release(let upstream, let released, let claim):
            credits[upstream].remove(released, from: member)
            if let claim { credits.answered(member, in: upstream) { $0.position == claim } }
            settleCredits(of: upstream)
        case .declare(let upstream, let present, let limits):
            credits[upstream].limits = limits
            credits[upstream].add(present, to: member)
        }
    }

    private mutating func apply(_ claim: CreditClaim, by member: UInt64) {
        credits[claim.upstream].limits = claim.limits
        credits[claim.upstream].isDeclared = true
        let upstream = credits[claim.upstream]
        let isFair = !claim.isOptional || upstream.sparesSession(for: able(claim.upstream))
        let others = upstream.held.keys.filter { $0 != member }.sorted()
        let waiting = SharedCredits.Waiting(claim: claim, member: member, position: position, awaited: others)
        if upstream.free.covers(claim.missing), isFair {
            // What others wait for is not given in advance.
            let given = (upstream.waiting.isEmpty ? claim.requested : claim.missing).limited(to: upstream.free)
            credits[claim.upstream].add(given, to: member)
            accept(waiting, given)
        } else if claim.isOptional || others.isEmpty {
            refuse(waiting)
        } else {
            credits[claim.upstream].waiting.append(waiting)
            effects.append(.creditsSought(upstream: claim.upstream, claim: position))
        }
        settleCredits(of: claim.upstream)
    }

    /// Decides the claims for credits of an upstream that can be decided now.
    mutating func settleCredits(of upstream: String) {
        for (waiting, given) in credits.settled(upstream) {
            if let given { accept(waiting, given) } else { refuse(waiting) }
        }
    }

    private mutating func accept(_ waiting: SharedCredits.Waiting, _ given: UpstreamCredits) {
        effects += [
            .order(.credit(upstream: waiting.claim.upstream, given), to: waiting.member),
            .order(.report(.credits(waiting.claim.number), .accepted), to: waiting.member),
        ]
    }

    private mutating func refuse(_ waiting: SharedCredits.Waiting) {
        if waiting.claim.missing.sessions > 0 { reassignWithoutSession(waiting.claim.upstream, of: waiting.member) }
        effects.append(.order(.report(.credits(waiting.claim.number), .refused), to: waiting.member))
    }

    /// Assigns the shared subscriptions of an owner that cannot have a session to members that have one.
    private mutating func reassignWithoutSession(_ upstream: String, of member: UInt64) {
        let carriers = credits.carriers(of: upstream, among: able(upstream))
        guard !credits[upstream].hasSession(member), !carriers.contains(member) else { return }
        let moved = topics.byID.filter { $0.value.owner == member && $0.value.key.upstream == upstream }.keys.sorted()
        guard moved.allSatisfy({ subscriptions[$0]?.layout == nil }) else { return }
        for id in moved { topics.unassign(id) }
        for id in moved { assign(id) }
    }

    /// Gives a member the credits for a subscription that it was assigned, as far as they are free.
    mutating func assignCredits(
        for properties: SubscriptionProperties,
        of upstream: String,
        withSession: Bool,
        to owner: UInt64
    ) {
        var needed = properties.credits
        needed.sessions = withSession ? 1 : 0
        let given = credits.assign(needed, of: upstream, to: owner, among: able(upstream))
        if !given.isNone { effects.append(.order(.credit(upstream: upstream, given), to: owner)) }
    }
}
