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
        var writer = ByteWriter.stating()
        writer.ticket(use)
        writer.double(expiresAt)
        writer.caller(caller)
        writer.optional(rightsExpireAt) { $0.double($1) }
        writer.blob(credential)
        return writer.bytes
    }

    /// Reads the bytes of a ticket.
    package init(_ bytes: [UInt8]) throws(CodingError) {
        var reader = try ByteReader.stating(bytes)
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

    mutating func ticket(_ record: TicketRecord) {
        switch record {
        case .open(let opening):
            byte(TicketTag.open)
            ticket(opening.use)
            key(opening.target)
            bool(opening.isResumed)
        case .closed(let key, let time):
            byte(TicketTag.closed)
            self.key(key)
            double(time)
        case .closedAll(let member, let time):
            byte(TicketTag.closedAll)
            fixed64(member)
            double(time)
        }
    }

    mutating func use(_ use: TicketUses.Use) {
        key(use.key)
        varint(use.position)
        key(use.target)
        fixed64(use.holder)
        optional(use.closedAt) { $0.double($1) }
    }
}

extension ByteReader {
    mutating func recordKey() throws(CodingError) -> RecordKey {
        RecordKey(high: try fixed64(), low: try fixed64())
    }

    mutating func ticket() throws(CodingError) -> TicketUse {
        TicketUse(key: try recordKey(), epoch: try fixed64(), issuedAt: try varint())
    }

    mutating func ticketRecord() throws(CodingError) -> TicketRecord {
        switch try byte() {
        case TicketTag.open:
            .open(TicketOpening(use: try ticket(), target: try recordKey(), isResumed: try bool()))
        case TicketTag.closed: .closed(try recordKey(), at: try double())
        case TicketTag.closedAll: .closedAll(of: try fixed64(), at: try double())
        default: throw .malformed
        }
    }

    mutating func ticketUse() throws(CodingError) -> TicketUses.Use {
        TicketUses.Use(
            key: try recordKey(),
            position: try varint(),
            target: try recordKey(),
            holder: try fixed64(),
            closedAt: try optional { reader throws(CodingError) in try reader.double() }
        )
    }
}

/// One byte for each case of a `TicketRecord`; numbers are never reused.
private enum TicketTag {
    static let open: UInt8 = 1
    static let closed: UInt8 = 2
    static let closedAll: UInt8 = 3
}
