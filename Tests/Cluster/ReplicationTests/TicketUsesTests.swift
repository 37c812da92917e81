import Testing

@testable import Replication

struct TicketUsesTests {
    private static func ticket(_ number: UInt64, issuedAt: UInt64) -> TicketUse {
        TicketUse(key: RecordKey(high: 1, low: number), epoch: 7, issuedAt: issuedAt)
    }

    private static let stream = RecordKey(high: 3, low: 4)

    private static func opening(_ ticket: TicketUse, of target: RecordKey = stream, isResumed: Bool) -> TicketOpening {
        TicketOpening(use: ticket, target: target, isResumed: isResumed)
    }

    @Test
    func ticketIsUsedOnce() {
        var uses = TicketUses()
        let ticket = Self.ticket(1, issuedAt: 5)
        let other = Self.ticket(2, issuedAt: 5)
        #expect(uses.open(Self.opening(ticket, isResumed: false), by: 1, at: 9) == (true, nil))
        #expect(uses.open(Self.opening(ticket, isResumed: false), by: 1, at: 10) == (false, nil))
        #expect(uses.state(of: ticket) == .used(target: Self.stream, closedAt: nil))
        #expect(uses.state(of: other) == .unused)
    }

    @Test
    func ticketReopensItsOwnStreamOnAnyMember() {
        var uses = TicketUses()
        let ticket = Self.ticket(1, issuedAt: 5)
        _ = uses.open(Self.opening(ticket, isResumed: true), by: 1, at: 9)
        let other = RecordKey(high: 5, low: 6)
        #expect(uses.open(Self.opening(ticket, of: other, isResumed: true), by: 2, at: 10) == (false, nil))
        #expect(uses.open(Self.opening(ticket, isResumed: true), by: 2, at: 11) == (true, 1))
        // The former stream closes after it was opened again.
        uses.close(ticket.key, by: 1, at: 50)
        #expect(uses.state(of: ticket) == .used(target: Self.stream, closedAt: nil))
        uses.close(ticket.key, by: 2, at: 60)
        #expect(uses.state(of: ticket) == .used(target: Self.stream, closedAt: 60))
        #expect(uses.open(Self.opening(ticket, isResumed: true), by: 3, at: 12) == (true, nil))
    }

    @Test
    func streamsOfARemovedMemberHaveClosed() {
        var uses = TicketUses()
        let (first, second) = (Self.ticket(1, issuedAt: 5), Self.ticket(2, issuedAt: 5))
        _ = uses.open(Self.opening(first, isResumed: false), by: 1, at: 9)
        _ = uses.open(Self.opening(second, isResumed: false), by: 2, at: 9)
        #expect(uses.hasOpen(of: 1))
        uses.closeAll(of: 1, at: 70)
        uses.closeAll(of: 1, at: 80)
        #expect(!uses.hasOpen(of: 1) && uses.hasOpen(of: 2))
        #expect(uses.state(of: first) == .used(target: Self.stream, closedAt: 70))
        #expect(uses.state(of: second) == .used(target: Self.stream, closedAt: nil))
    }

    @Test(arguments: [
        TicketRecord.open(opening(ticket(1, issuedAt: 300), isResumed: true)), .closed(stream, at: 1.5),
        .closedAll(of: 7, at: 2.5),
    ])
    func ticketRecordIsReadAsItWasWritten(record: TicketRecord) throws {
        let body = ClusterRecord.ticket(record).body
        #expect(try ClusterRecord.read(body[...], layout: { _ in nil }) == .ticket(record))
        for count in 1..<body.count {
            #expect(throws: CodingError.self) { try ClusterRecord.read(body.prefix(count), layout: { _ in nil }) }
        }
    }

    /// Every use is forgotten at some time; the ticket stays used, because it was issued before.
    @Test
    func forgottenUsesStayUsed() {
        var uses = TicketUses()
        let count = UInt64(3 * TicketUses.limit)
        for number in 1...count {
            let opening = Self.opening(Self.ticket(number, issuedAt: number), isResumed: false)
            if !uses.open(opening, by: 1, at: number + 1).0 { Issue.record("\(number)") }
        }
        #expect(uses.uses.count <= TicketUses.limit)
        #expect(uses.forgottenThrough > 0)
        for number in 1...count where uses.state(of: Self.ticket(number, issuedAt: number)) == .unused {
            Issue.record("\(number) could be used twice")
        }
        let unused = Self.ticket(count + 1, issuedAt: count)
        #expect(uses.state(of: unused) == .unused)
        uses.close(RecordKey(high: 1, low: count), by: 1, at: 5)
        #expect(uses.uses.last?.closedAt == 5)
        let copy = TicketUses(uses.uses, forgottenThrough: uses.forgottenThrough)
        #expect(copy == uses)
    }
}
