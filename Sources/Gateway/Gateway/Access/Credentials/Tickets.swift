internal import SessionCore

/// Tickets, each of which opens one stream within a short time.
package protocol Tickets: Sendable {
    /// Issues a ticket to a caller; nil if there are too many unused tickets.
    ///
    /// - Throws: A 503 problem if it cannot be known which tickets are used.
    func issue(to caller: Caller, _ policy: AccessPolicy, at now: TicketTime) throws(Problem) -> IssuedTicket?

    /// The holder of a ticket, which a request for a stream presents; nil if the ticket is unknown, used or expired.
    func present(_ text: String, for target: StreamTarget, _ policy: AccessPolicy, at now: TicketTime) -> TicketHolder?

    /// A request has opened a stream by a ticket. Returns the former stream of the ticket, which has to end; nil: none is known
    /// here.
    func opened(_ redemption: TicketRedemption, stream: String) -> String?

    /// A request has opened no stream by a ticket.
    func giveBack(_ redemption: TicketRedemption, at now: TicketTime)

    /// The stream that a request has opened by a ticket has closed.
    func closed(_ redemption: TicketRedemption, stream: String, at now: TicketTime)

    func revoke(where isRevoked: (Caller) -> Bool)
}

package struct IssuedTicket: Sendable {
    /// The text that the holder presents.
    let text: String
    /// How long it is valid before its first use.
    let lifetime: Duration

    package init(text: String, lifetime: Duration) {
        self.text = text
        self.lifetime = lifetime
    }

    /// The beginning of the text of every ticket.
    package static let prefix = "lst_"

    /// How long after the end of its stream a ticket can open the stream again.
    package static let reopeningTime = Duration.seconds(60)
}

package struct TicketHolder: Sendable {
    /// The caller that the ticket was issued to.
    let caller: Caller
    /// The use of the ticket by the request.
    let use: Use

    package init(caller: Caller, use: Use) {
        self.caller = caller
        self.use = use
    }

    package enum Use: Sendable {
        /// The ticket remains valid.
        case left
        case redeemed(TicketRedemption)
        /// The ticket is used when the request is performed.
        case due(TicketRedemption)
    }
}

/// The present time, as clocks of a process and of the world show it.
package struct TicketTime: Sendable {
    /// The time of this process.
    let moment: Moment
    /// Seconds since 1970.
    package let wall: Double
}
