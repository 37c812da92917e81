internal import Gateway
internal import Replication
internal import SessionCore
internal import SessionPool

/// The tickets of a cluster. Any member issues them, encrypted with a key from the cluster's secret, and any member
/// accepts them; the log decides which request used one first.
struct ClusterTickets: Sendable {
    /// The cipher of tickets.
    let cipher: ClusterCipher
    /// The present epoch and position of the log; nil without contact to the cluster.
    let place: @Sendable () -> (epoch: UInt64, position: UInt64)?
    /// Whether a ticket was used, as far as this member has read the log.
    let isUsed: @Sendable (TicketUse) -> Bool

    /// Issues a ticket. Throws 503 if the position of the log is not known.
    func issue(
        to caller: Caller,
        _ policy: AccessPolicy,
        lifetime: Duration,
        now: Double
    ) throws(Problem) -> IssuedTicket {
        guard let (epoch, position) = place() else {
            throw Problem.notInContact
        }
        var holder = ForwardedRequest.Caller(caller)
        // The rights of a key are not in the ticket, because they may be long: `open` reads them from the
        // configuration.
        if !(caller.identity.map(TokenVerifier.isIdentity) ?? false) {
            holder = ForwardedRequest.Caller(identity: caller.identity)
        }
        let ticket = ClusterTicket(
            use: TicketUse(key: .random(), epoch: epoch, issuedAt: position),
            expiresAt: now + lifetime / .seconds(1),
            caller: holder,
            rightsExpireAt: caller.expiry,
            credential: policy.digest(of: caller.identity)
        )
        let text = IssuedTicket.prefix + Base64URL.encode(cipher.encrypt(ticket.bytes))
        return IssuedTicket(text: text, lifetime: lifetime)
    }

    /// The use of a ticket that was presented; nil if its text is not that of a ticket.
    func use(of text: String) -> TicketUse? { decrypted(text)?.use }

    private func decrypted(_ text: String) -> ClusterTicket? {
        guard text.hasPrefix(IssuedTicket.prefix),
            let encrypted = Base64URL.decode(text.utf8.dropFirst(IssuedTicket.prefix.utf8.count)),
            let bytes = cipher.decrypt(encrypted)
        else { return nil }
        return try? ClusterTicket(bytes)
    }

    /// The holder of a ticket; nil if it was not issued by this cluster, is expired, or its credential has changed.
    func open(_ text: String, _ policy: AccessPolicy, now: Double) -> (Caller, TicketUse)? {
        guard let ticket = decrypted(text), ticket.expiresAt > now,
            ticket.credential == policy.digest(of: ticket.caller.identity)
        else { return nil }
        var caller = Caller(ticket.caller)
        if let identity = caller.identity, !TokenVerifier.isIdentity(identity) {
            guard let rights = policy.keys.rights(of: identity) else { return nil }
            caller.rights = rights
        }
        caller.expiry = ticket.rightsExpireAt
        return (caller, ticket.use)
    }
}

extension ClusterTickets: Tickets {
    func issue(to caller: Caller, _ policy: AccessPolicy, at now: TicketTime) throws(Problem) -> IssuedTicket? {
        try issue(to: caller, policy, lifetime: policy.configuration.ticketLifetime, now: now.wall)
    }

    func present(
        _ text: String,
        for target: StreamTarget,
        _ policy: AccessPolicy,
        forHead: Bool,
        at now: TicketTime
    ) -> TicketHolder? {
        guard let (caller, ticket) = open(text, policy, now: now.wall), !forHead || !isUsed(ticket) else { return nil }
        return TicketHolder(caller: caller, use: forHead ? .left : .due)
    }

    func opened(_ redemption: TicketRedemption, stream: String) {}

    func closed(_ redemption: TicketRedemption, stream: String, at now: TicketTime) {}

    /// A ticket is valid only for the credential of its caller, so nothing has to be noted here.
    func revoke(where isRevoked: (Caller) -> Bool) {}
}

extension ClusterNode {
    var tickets: any Tickets { clusterTickets }

    private var clusterTickets: ClusterTickets {
        ClusterTickets(
            cipher: ClusterCipher(secret: configuration.secret ?? "", purpose: "tickets"),
            place: { [self] in
                servesResources ? state.withLock { $0.machine.ledger.map { ($0.epoch, $0.position) } } : nil
            },
            isUsed: { [self] ticket in state.withLock { $0.machine.ledger?.isUsed(ticket) ?? true } }
        )
    }

    /// Performs a request whose ticket was not used before.
    func use(
        _ text: String,
        for call: Call,
        _ perform: @escaping @Sendable () throws -> OperationResult
    ) throws -> OperationResult {
        // The other members would not know that it was used.
        if isAlone { return .response(try StreamOpener.closing("behind", .notInContact, call)) }
        guard let ticket = clusterTickets.use(of: text) else { throw Challenge.uselessTicket() }
        decide(.ticket(ticket.key), by: .useTicket(ticket)) { [self] outcome in
            // A job of its own, because a handler takes too long for the node's task.
            addJob {
                call.complete {
                    guard let outcome else {
                        return .response(try StreamOpener.closing("behind", .notInContact, call))
                    }
                    guard outcome == .accepted else { throw Challenge.uselessTicket() }
                    return try perform()
                }
            }
        }
        return .deferred
    }
}

extension ForwardedRequest.Caller {
    /// The form of a caller in requests between members.
    init(_ caller: Caller) {
        let rights = caller.rights
        self.init(
            identity: caller.identity,
            operations: rights.operations.map(\.rawValue).sorted(),
            upstreams: rights.upstreams.map(\.description),
            items: rights.items.map(\.description)
        )
        maxSubscriptions = rights.maxSubscriptions
        maxItems = rights.maxItems
        streams = rights.streams
        rate = rights.rate
    }
}

extension Caller {
    /// A caller that another member sent.
    init(_ caller: ForwardedRequest.Caller) {
        self.init(
            identity: caller.identity,
            rights: Rights(
                operations: Set(caller.operations.compactMap(Right.init(rawValue:))),
                upstreams: caller.upstreams.map { WildcardPattern($0) },
                items: caller.items.map { WildcardPattern($0) },
                streams: caller.streams,
                rate: caller.rate,
                maxSubscriptions: caller.maxSubscriptions,
                maxItems: caller.maxItems
            )
        )
    }
}
