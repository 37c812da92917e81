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

    /// A ticket.
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
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.byte(ClusterFrame.version)
        writer.ticket(use)
        writer.double(expiresAt)
        writer.caller(caller)
        writer.optional(rightsExpireAt) { $0.double($1) }
        writer.blob(credential)
        return writer.bytes
    }

    /// Reads the bytes of a ticket.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = ByteReader(bytes[...])
        guard try reader.byte() == ClusterFrame.version else { throw .malformed }
        use = try reader.ticket()
        expiresAt = try reader.double()
        caller = try reader.caller()
        rightsExpireAt = try reader.optional { reader throws(CodingError) in try reader.double() }
        credential = Array(try reader.blob())
        try reader.finish()
    }
}

extension ByteWriter {
    mutating func key(_ key: RecordKey) {
        fixed64(key.high)
        fixed64(key.low)
    }

    mutating func ticket(_ use: TicketUse) {
        key(use.key)
        fixed64(use.epoch)
        varint(use.issuedAt)
    }
}

extension ByteReader {
    mutating func recordKey() throws(CodingError) -> RecordKey {
        RecordKey(high: try fixed64(), low: try fixed64())
    }

    mutating func ticket() throws(CodingError) -> TicketUse {
        TicketUse(key: try recordKey(), epoch: try fixed64(), issuedAt: try varint())
    }
}
