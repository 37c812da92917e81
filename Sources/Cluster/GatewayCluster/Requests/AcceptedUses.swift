internal import Gateway
internal import Replication

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
