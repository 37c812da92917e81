/// The content of a ticket that every member accepts, before it is encrypted.
package struct ClusterTicket: Sendable, Equatable {
    /// How the log refers to it.
    package var use: TicketUse
    /// When it expires, in seconds since 1970.
    package var expiresAt: Double
    /// The caller that it was issued to.
    package var caller: ForwardedRequest.Caller
    /// When the rights of the caller expire, in seconds since 1970; nil: never.
    package var rightsExpireAt: Double?
    /// A digest of the credential of the caller and its rights: the ticket is void when it changes.
    package var credential: [UInt8]

    package init(
        use: TicketUse,
        expiresAt: Double,
        caller: ForwardedRequest.Caller,
        rightsExpireAt: Double?,
        credential: [UInt8]
    ) {
        self.use = use
        self.expiresAt = expiresAt
        self.caller = caller
        self.rightsExpireAt = rightsExpireAt
        self.credential = credential
    }

    /// The bytes that are encrypted.
    package var bytes: [UInt8] { Wire<ClusterTicket>.ticket.stating().bytes(self) }

    /// Reads the bytes of a ticket.
    package init(_ bytes: [UInt8]) throws(CodingError) { self = try Wire<ClusterTicket>.ticket.stating().value(bytes) }
}

extension Wire<ClusterTicket> {
    fileprivate static let ticket = Wire(
        ClusterTicket.init,
        (\.use, .ticketUse),
        (\.expiresAt, .double),
        (\.caller, .caller),
        (\.rightsExpireAt, .optional(.double)),
        (\.credential, .blob)
    )
}

extension Wire<RecordKey> { static let key = Wire(RecordKey.init, (\.high, .fixed64), (\.low, .fixed64)) }

extension Wire<TicketUse> {
    fileprivate static let ticketUse = Wire(TicketUse.init, (\.key, .key), (\.epoch, .fixed64), (\.issuedAt, .varint))
}

extension Wire<TicketRecord> {
    static let ticketRecord = Wire(cases: [
        Case(1, .ticketUse, .key, .bool, make: { .open(TicketOpening(use: $0, target: $1, isResumed: $2)) }) {
            if case .open(let opening) = $0 { (opening.use, opening.target, opening.isResumed) } else { nil }
        },
        Case(2, .key, .double, make: { .closed($0, at: $1) }) {
            if case .closed(let key, let time) = $0 { (key, time) } else { nil }
        },
        Case(3, .fixed64, .double, make: { .closedAll(of: $0, at: $1) }) {
            if case .closedAll(let member, let time) = $0 { (member, time) } else { nil }
        },
    ])
}

extension Wire<TicketUses> {
    static let ticketUses = Wire(
        { TicketUses($1, forgottenThrough: $0) },
        (\.forgottenThrough, .varint),
        (\.uses, .list(.use))
    )
}

extension Wire<TicketUses.Use> {
    fileprivate static let use = Wire(
        TicketUses.Use.init,
        (\.key, .key),
        (\.position, .varint),
        (\.target, .key),
        (\.holder, .fixed64),
        (\.closedAt, .optional(.double))
    )
}
