internal import Gateway
internal import Replication

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The tickets of a cluster. Any member issues them, encrypted with a key from the cluster's secret, and any member
/// accepts them; the log decides which request used one first, and which one opens its stream again.
struct ClusterTickets: Sendable {
    let cipher: ClusterCipher
    /// The present epoch and position of the log; nil without contact to the cluster.
    let place: @Sendable () -> (epoch: UInt64, position: UInt64)?
    /// The state of a ticket, as far as this member has read the log.
    let state: @Sendable (TicketUse) -> TicketState
    /// Called when the stream of a ticket was opened here, and when it has closed.
    var streamOpened: @Sendable (TicketRedemption, _ stream: String) -> Void = { _, _ in }
    var streamClosed: @Sendable (TicketRedemption) -> Void = { _ in }

    /// Issues a ticket. Throws 503 if the position of the log is not known.
    func issue(to caller: Caller, _ policy: AccessPolicy, at now: TicketTime) throws(Problem) -> IssuedTicket? {
        guard let (epoch, position) = place() else { throw Problem.notInContact }
        let lifetime = policy.configuration.ticketLifetime
        var holder = caller
        // The rights of a key, which may be long, are not in the ticket: `present` reads them from the configuration.
        if !(caller.identity.map(TokenVerifier.isIdentity) ?? false) {
            holder = Caller(identity: caller.identity, rights: .none, expiry: caller.expiry)
        }
        let ticket = ClusterTicket(
            use: TicketUse(key: .random(), epoch: epoch, issuedAt: position),
            expiresAt: now.wall + lifetime / .seconds(1),
            caller: holder,
            credential: policy.digest(of: caller.identity)
        )
        let text = IssuedTicket.prefix + Base64URL.encode(cipher.encrypt(ClusterTicket.wire.bytes(ticket)))
        return IssuedTicket(text: text, lifetime: lifetime)
    }

    private func decrypted(_ text: String) -> ClusterTicket? {
        guard text.hasPrefix(IssuedTicket.prefix),
            let encrypted = Base64URL.decode(text.utf8.dropFirst(IssuedTicket.prefix.utf8.count)),
            let bytes = cipher.decrypt(encrypted)
        else { return nil }
        return try? ClusterTicket.wire.value(bytes)
    }

    /// How long after the end of its stream a ticket can open the stream again, in seconds.
    private static let reopeningTime = IssuedTicket.reopeningTime / .seconds(1)

    /// The opening of a stream that the log decides about.
    func opening(of text: String, _ redemption: TicketRedemption) -> TicketOpening? {
        decrypted(text).map {
            TicketOpening(use: $0.use, target: Self.key(of: redemption.target), isResumed: redemption.target.isResumed)
        }
    }

    /// The name of a stream in the log.
    private static func key(of target: StreamTarget) -> RecordKey { RecordKey(bytes: target.digest) }
}

/// The content of a ticket that every member accepts, before it is encrypted.
struct ClusterTicket: Sendable {
    /// How the log refers to it.
    var use: TicketUse
    /// When it expires, in seconds since 1970.
    var expiresAt: Double
    var caller: Caller
    /// A digest of the credential of the caller and its rights: the ticket is void when it changes.
    var credential: [UInt8]

    static let wire = Wire<Self>(
        { use, expiresAt, caller, rightsExpireAt, credential in
            var caller = caller
            caller.expiry = rightsExpireAt
            return Self(use: use, expiresAt: expiresAt, caller: caller, credential: credential)
        },
        (\.use, TicketUse.wire),
        (\.expiresAt, .double),
        (\.caller, .caller),
        (\.caller.expiry, .optional(.double)),
        (\.credential, .blob)
    ).stating()
}

extension RecordKey {
    /// The key of the first 16 bytes.
    init(bytes: [UInt8]) {
        func number(_ range: Range<Int>) -> UInt64 { bytes[range].reduce(0) { $0 << 8 | UInt64($1) } }
        self.init(high: number(0..<8), low: number(8..<16))
    }

    fileprivate var bytes: [UInt8] {
        [high, low].flatMap { number in (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
    }
}

/// The last accepted use of each ticket on this member, until its stream ends or the ticket moves to another member.
struct AcceptedUses: Sendable {
    /// The number of the use, the use as the log has it, and the stream that it has opened; nil: none yet.
    private var uses: [RecordKey: (number: UInt64, opening: TicketOpening, stream: String?)] = [:]

    func contains(_ ticket: RecordKey) -> Bool { uses[ticket] != nil }

    func isLast(_ redemption: TicketRedemption) -> Bool { uses[redemption.ticket]?.number == redemption.use }

    var openings: [TicketOpening] { uses.values.map(\.opening) }

    /// The log has accepted a use. Returns the stream of an earlier use; nil: none.
    mutating func accepted(_ redemption: TicketRedemption, _ opening: TicketOpening) -> String? {
        uses.updateValue((redemption.use, opening, nil), forKey: redemption.ticket)?.stream
    }

    mutating func opened(_ stream: String, by redemption: TicketRedemption) {
        if isLast(redemption) { uses[redemption.ticket]?.stream = stream }
    }

    /// The stream of a use has closed, or the use has opened none. False if the use was not the last one of its ticket.
    mutating func ended(_ redemption: TicketRedemption) -> Bool {
        guard isLast(redemption) else { return false }
        uses[redemption.ticket] = nil
        return true
    }

    /// A ticket has moved to another member. Returns the stream of its use here; nil: none.
    mutating func moved(_ ticket: RecordKey) -> String? { uses.removeValue(forKey: ticket)?.stream }
}

extension TicketRedemption {
    /// The name of the ticket in the log.
    var ticket: RecordKey { RecordKey(bytes: hash) }
}

extension ClusterTickets: Tickets {
    /// The holder of a ticket. Nil if the ticket was not issued by this cluster, its credential has changed, it is expired and
    /// was not used, or it was used and may not open this stream again.
    func present(
        _ text: String,
        for target: StreamTarget,
        _ policy: AccessPolicy,
        at now: TicketTime
    ) -> TicketHolder? {
        guard let ticket = decrypted(text), ticket.credential == policy.digest(of: ticket.caller.identity) else {
            return nil
        }
        var isReopening = false
        switch state(ticket.use) {
        case .unused: if ticket.expiresAt <= now.wall { return nil }
        case .used(let used, let closedAt):
            guard target.isResumed, used == Self.key(of: target),
                closedAt.map({ now.wall < $0 + Self.reopeningTime }) ?? true
            else { return nil }
            isReopening = true
        case .void: return nil
        }
        var caller = ticket.caller
        if let identity = caller.identity, !TokenVerifier.isIdentity(identity) {
            guard let rights = policy.keys.rights(of: identity) else { return nil }
            caller.rights = rights
        }
        if target.isHead { return TicketHolder(caller: caller, use: .left) }
        var redemption = TicketRedemption(hash: ticket.use.key.bytes, target: target, caller: caller)
        redemption.isReopening = isReopening
        return TicketHolder(caller: caller, use: .due(redemption))
    }

    /// The log decides which of several streams the ticket has.
    func opened(_ redemption: TicketRedemption, stream: String) -> String? {
        streamOpened(redemption, stream)
        return nil
    }

    /// The log has the use of a ticket, whose end `endUse` reports.
    func giveBack(_ redemption: TicketRedemption, at now: TicketTime) {}

    func closed(_ redemption: TicketRedemption, stream: String, at now: TicketTime) { streamClosed(redemption) }

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
            state: { [self] ticket in
                // The log of a member that serves alone has no tickets; `use` refuses the stream.
                isAlone ? .unused : state.withLock { $0.machine.state(of: ticket) }
            },
            streamOpened: { [self] redemption, stream in
                shared.withLock { $0.tickets.opened(stream, by: redemption) }
            },
            streamClosed: { [self] in end($0) }
        )
    }

    /// The stream of a ticket's use has closed, or the use has opened none.
    private func end(_ redemption: TicketRedemption) {
        let isLast = shared.withLock { $0.tickets.ended(redemption) }
        if isLast { write(.ticket(.closed(redemption.ticket, at: Self.wallTime()))) }
    }

    /// Ends the stream that a ticket has opened here, because the ticket has opened it again on another member.
    func closeTicketStream(_ ticket: RecordKey) { close(shared.withLock { $0.tickets.moved(ticket) }) }

    /// The log has accepted the use of a ticket here: the stream of an earlier use ends.
    private func accepted(_ redemption: TicketRedemption, _ opening: TicketOpening) {
        close(shared.withLock { $0.tickets.accepted(redemption, opening) })
    }

    /// Opens the streams of tickets again in the log that are open here, after this member has joined under another number: for
    /// the other members these streams have closed with the removal of the former number. A ticket that has opened another
    /// stream elsewhere ends the stream of the ticket here.
    func declareTickets() {
        for opening in shared.withLock({ $0.tickets.openings }) {
            let ticket = opening.use
            let (epoch, holder) = state.withLock { state in
                (state.machine.ledger?.epoch, state.machine.ledger?.process(thatHas: ticket.key))
            }
            guard ticket.epoch == epoch else { continue }
            if let holder, holder != process {
                closeTicketStream(ticket.key)
            } else {
                let again = TicketOpening(use: ticket, target: opening.target, isResumed: true)
                decide(.ticket(ticket.key), by: .ticket(.open(again)), until: .never) { _ in }
            }
        }
    }

    /// The log has accepted a use whose request has ended. The time of the ticket begins, unless an earlier use has its stream.
    func acceptedLate(_ ticket: RecordKey) {
        let isUsed = shared.withLock { $0.tickets.contains(ticket) }
        if !isUsed { write(.ticket(.closed(ticket, at: Self.wallTime()))) }
    }

    private func close(_ stream: String?) { if let stream { hub.close(stream: stream, reason: StreamOpener.replaced) } }

    /// Reports the end of the streams that tickets have opened on a removed member.
    func closeTickets(of member: UInt64) { write(.ticket(.closedAll(of: member, at: Self.wallTime()))) }

    private static func wallTime() -> Double { Date().timeIntervalSince1970 }

    /// Has a ticket open the stream of a request. Throws unless the log accepts that.
    func use(_ text: String, for call: Call) async throws {
        // The other members would not know that it was used.
        if isAlone { throw StreamOpener.closing("behind", .notInContact, call) }
        guard let redemption = call.redemption, let opening = clusterTickets.opening(of: text, redemption) else {
            throw Challenge.uselessTicket()
        }
        let outcome: RecordOutcome? = await withCheckedContinuation { continuation in
            decide(.ticket(opening.use.key), by: .ticket(.open(opening))) { [self] outcome in
                // Before the next record of the log is applied, which may give the ticket to another request.
                if outcome == .accepted { accepted(redemption, opening) }
                continuation.resume(returning: outcome)
            }
        }
        guard let outcome else { throw StreamOpener.closing("behind", .notInContact, call) }
        guard outcome == .accepted else { throw Challenge.uselessTicket() }
    }

    /// Reports the end of the use of a ticket by its request, unless the request has opened a stream: the time of a ticket begins
    /// also without a stream. Ends the stream if the ticket belongs to another request meanwhile.
    func endUse(by call: Call, of stream: String?) {
        guard let redemption = call.redemption else { return }
        guard let stream else { return end(redemption) }
        let isHeld = shared.withLock { $0.tickets.isLast(redemption) }
        if !isHeld { hub.close(stream: stream, reason: StreamOpener.replaced) }
    }
}
