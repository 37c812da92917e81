internal import Gateway
internal import Replication

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
