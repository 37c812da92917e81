import Testing

@testable import Replication

struct TicketUsesTests {
    private static func ticket(_ number: UInt64, issuedAt: UInt64) -> TicketUse {
        TicketUse(key: RecordKey(high: 1, low: number), epoch: 7, issuedAt: issuedAt)
    }

    @Test
    func ticketIsUsedOnce() {
        var uses = TicketUses()
        let ticket = Self.ticket(1, issuedAt: 5)
        let other = Self.ticket(2, issuedAt: 5)
        #expect(uses.add(ticket, at: 9) == true)
        #expect(uses.add(ticket, at: 10) == false)
        #expect(uses.contains(ticket) && !uses.contains(other))
    }

    /// Every use is forgotten at some time; the ticket stays used, because it was issued before.
    @Test
    func forgottenUsesStayUsed() {
        var uses = TicketUses()
        let count = UInt64(3 * TicketUses.limit)
        for number in 1...count {
            let isFirst = uses.add(Self.ticket(number, issuedAt: number), at: number + 1)
            if !isFirst { Issue.record("\(number)") }
        }
        #expect(uses.uses.count <= TicketUses.limit)
        #expect(uses.forgottenThrough > 0)
        for number in 1...count where !uses.contains(Self.ticket(number, issuedAt: number)) {
            Issue.record("\(number) could be used twice")
        }
        let unused = Self.ticket(count + 1, issuedAt: count)
        #expect(!uses.contains(unused))
        let copy = TicketUses(uses.uses, forgottenThrough: uses.forgottenThrough)
        #expect(copy == uses)
    }

    @Test
    func ticketIsReadAsItWasWritten() throws {
        var caller = ForwardedRequest.Caller(identity: "jwt:x", operations: ["read"], upstreams: ["*"], items: ["a*"])
        caller.streams = 3
        caller.rate = 0.5
        caller.maxItems = 7
        let ticket = ClusterTicket(
            use: Self.ticket(1, issuedAt: 300),
            expiresAt: 1.5,
            caller: caller,
            rightsExpireAt: 2.5,
            credential: [1, 2]
        )
        #expect(try ClusterTicket(ticket.bytes) == ticket)
        for count in 0..<ticket.bytes.count {
            #expect(throws: CodingError.self) { try ClusterTicket(Array(ticket.bytes.prefix(count))) }
        }
    }
}
