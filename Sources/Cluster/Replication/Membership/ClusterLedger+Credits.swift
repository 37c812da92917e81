package import SessionCore

/// The decisions about the credits of upstreams.
extension ClusterLedger {
    /// What a member has of an upstream.
    package func credits(of upstream: String, by member: UInt64) -> UpstreamCredits {
        credits[upstream].held[member] ?? .none
    }

    /// What no member has of an upstream.
    package func freeCredits(of upstream: String) -> UpstreamCredits { credits[upstream].free }

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

    mutating func apply(_ record: CreditRecord, by member: UInt64, _ effects: inout [LedgerEffect]) {
        switch record {
        case .claim(let claim):
            apply(claim, by: member, &effects)
        case .release(let upstream, let released):
            credits[upstream].remove(released, from: member)
            settleCredits(of: upstream, &effects)
        case .yield(let upstream, let released, let position):
            credits[upstream].remove(released, from: member)
            credits.answered(member, in: upstream) { $0.position == position }
            settleCredits(of: upstream, &effects)
        case .declare(let upstream, let present, let limits):
            credits[upstream].limits = limits
            credits[upstream].add(present, to: member)
        }
    }

    private mutating func apply(_ claim: CreditClaim, by member: UInt64, _ effects: inout [LedgerEffect]) {
        var upstream = credits[claim.upstream]
        upstream.limits = claim.limits
        upstream.isDeclared = true
        defer { settleCredits(of: claim.upstream, &effects) }
        let isFair = !claim.isOptional || upstream.sparesSession(for: able(claim.upstream))
        let waiting = SharedCredits.Waiting(claim: claim, member: member, position: position, awaited: [])
        guard upstream.free.covers(claim.missing), isFair else {
            let others = upstream.held.keys.filter { $0 != member }.sorted()
            if claim.isOptional || others.isEmpty {
                credits[claim.upstream] = upstream
                return refuse(waiting, &effects)
            }
            upstream.waiting.append(
                SharedCredits.Waiting(claim: claim, member: member, position: position, awaited: others)
            )
            credits[claim.upstream] = upstream
            effects.append(.creditsSought(upstream: claim.upstream, claim: position))
            return
        }
        // What others wait for is not given in advance.
        let given = (upstream.waiting.isEmpty ? claim.wanted : claim.missing).limited(to: upstream.free)
        upstream.add(given, to: member)
        credits[claim.upstream] = upstream
        accept(waiting, given, &effects)
    }

    /// Decides the claims for credits of an upstream that can be decided now.
    mutating func settleCredits(of upstream: String, _ effects: inout [LedgerEffect]) {
        for (waiting, given) in credits.settled(upstream) {
            if let given { accept(waiting, given, &effects) } else { refuse(waiting, &effects) }
        }
    }

    private func accept(
        _ waiting: SharedCredits.Waiting,
        _ given: UpstreamCredits,
        _ effects: inout [LedgerEffect]
    ) {
        effects += [
            .credited(upstream: waiting.claim.upstream, given, to: waiting.member),
            .decided(.credits(waiting.claim.number), by: waiting.member, .accepted),
        ]
    }

    private mutating func refuse(_ waiting: SharedCredits.Waiting, _ effects: inout [LedgerEffect]) {
        if waiting.claim.missing.sessions > 0 {
            reassignWithoutSession(waiting.claim.upstream, of: waiting.member, &effects)
        }
        effects.append(.decided(.credits(waiting.claim.number), by: waiting.member, .refused))
    }

    /// Assigns the shared subscriptions of an owner that cannot have a session to members that have one.
    private mutating func reassignWithoutSession(
        _ upstream: String,
        of member: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        let carriers = credits.carriers(of: upstream, among: able(upstream))
        guard !credits[upstream].hasSession(member), !carriers.contains(member) else { return }
        let moved = topics.filter { $0.value.owner == member && $0.value.key.upstream == upstream }.keys.sorted()
        guard moved.allSatisfy({ subscriptions[$0]?.isSubscribed == false }) else { return }
        for id in moved { unassign(id) }
        for id in moved { assign(id, &effects) }
    }

    /// Gives a member the credits for a subscription that it was assigned, as far as they are free.
    mutating func assignCredits(
        for properties: SubscriptionProperties,
        of upstream: String,
        withSession: Bool,
        to owner: UInt64,
        _ effects: inout [LedgerEffect]
    ) {
        var needed = properties.credits
        needed.sessions = withSession ? 1 : 0
        let given = credits.assign(needed, of: upstream, to: owner, among: able(upstream))
        if !given.isNone { effects.append(.credited(upstream: upstream, given, to: owner)) }
    }
}
