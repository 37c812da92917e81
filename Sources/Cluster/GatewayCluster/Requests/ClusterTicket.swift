internal import Gateway
internal import Replication

/// The content of a ticket that every member accepts, before it is encrypted.
struct ClusterTicket: Sendable {
    /// How the log refers to it.
    var use: TicketUse
    /// When it expires, in seconds since 1970.
    var expiresAt: Double
    /// The caller that it was issued to.
    var caller: Caller
    /// A digest of the credential of the caller and its rights: the ticket is void when it changes.
    var credential: [UInt8]

    /// The bytes that are encrypted.
    var bytes: [UInt8] { Wire.ticket.bytes(self) }
}

extension ClusterTicket {
    /// Reads the bytes of a ticket.
    init(_ bytes: [UInt8]) throws(CodingError) { self = try Wire.ticket.value(bytes) }
}

extension Wire<ClusterTicket> {
    fileprivate static let ticket = Wire(
        { use, expiresAt, caller, rightsExpireAt, credential in
            var caller: Caller = caller
            caller.expiry = rightsExpireAt
            return ClusterTicket(use: use, expiresAt: expiresAt, caller: caller, credential: credential)
        },
        (\.use, .ticketUse),
        (\.expiresAt, .double),
        (\.caller, .caller),
        (\.caller.expiry, .optional(.double)),
        (\.credential, .blob)
    ).stating()
}
