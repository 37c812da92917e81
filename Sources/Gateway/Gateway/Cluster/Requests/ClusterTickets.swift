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
    ) throws(Problem) -> TicketStore.Ticket {
        guard let (epoch, position) = place() else {
            throw Problem.notConnectedToCluster
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
        let text = TicketStore.prefix + Base64URL.encode(cipher.encrypt(ticket.bytes))
        return TicketStore.Ticket(text: text, lifetime: lifetime)
    }

    /// The holder of a ticket; nil if it was not issued by this cluster, is expired, or its credential has changed.
    func open(_ text: String, _ policy: AccessPolicy, now: Double) -> (Caller, TicketUse)? {
        guard text.hasPrefix(TicketStore.prefix),
            let encrypted = Base64URL.decode(text.utf8.dropFirst(TicketStore.prefix.utf8.count)),
            let bytes = cipher.decrypt(encrypted), let ticket = try? ClusterTicket(bytes),
            ticket.expiresAt > now, ticket.credential == policy.digest(of: ticket.caller.identity)
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

extension ClusterNode {
    /// The tickets of the cluster.
    var tickets: ClusterTickets {
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
        _ ticket: TicketUse,
        for call: Call,
        _ perform: @escaping @Sendable () throws -> OperationResult
    ) throws -> OperationResult {
        // The other members would not know that it was used.
        if isAlone { return .response(try StreamOpener.closing("behind", .notConnectedToCluster, call)) }
        decide(.ticket(ticket.key), by: .useTicket(ticket)) { [self] outcome in
            // A job of its own, because a handler takes too long for the node's task.
            addJob {
                call.complete {
                    guard let outcome else {
                        return .response(try StreamOpener.closing("behind", .notConnectedToCluster, call))
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
