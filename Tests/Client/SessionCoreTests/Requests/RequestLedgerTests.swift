internal import TLCP
internal import Testing

@testable internal import SessionCore

@Suite struct RequestLedgerTests {
    @Test func requestsGoOutInTheirOrder() {
        var ledger = RequestLedger()
        ledger.ask(.badgeReset(deviceID: "d"))
        ledger.ask(.bandwidth(.unlimited))
        ledger.ask(.transportSwitch(cause: nil))
        #expect(ledger.nextPending(.beforeSubscriptions) == .transportSwitch(cause: nil))
        ledger.sent(.transportSwitch(cause: nil), as: RequestID(1))
        #expect(ledger.nextPending(.beforeSubscriptions) == .bandwidth(.unlimited))
        ledger.sent(.bandwidth(.unlimited), as: RequestID(2))
        #expect(ledger.nextPending(.beforeSubscriptions) == nil)
        #expect(ledger.nextPending(.afterSubscriptions) == .badgeReset(deviceID: "d"))
        #expect(ledger.hasPending)
    }

    @Test func onlyTheLastCopyCanBeAnswered() {
        var ledger = RequestLedger()
        ledger.ask(.bandwidth(.unlimited))
        ledger.sent(.bandwidth(.unlimited), as: RequestID(1))
        ledger.channelLost()
        #expect(ledger.hasPending)
        ledger.sent(.bandwidth(.unlimited), as: RequestID(2))
        let first = ledger.answered(RequestID(1))
        #expect(first == nil)
        let second = ledger.answered(RequestID(2))
        #expect(second == .bandwidth(.unlimited))
        let third = ledger.answered(RequestID(2))
        #expect(third == nil)
    }

    @Test func newRequestOfAKindSupersedesTheOld() {
        var ledger = RequestLedger()
        ledger.ask(.bandwidth(.limited(1)))
        ledger.sent(.bandwidth(.limited(1)), as: RequestID(1))
        ledger.ask(.bandwidth(.limited(2)))
        let first = ledger.answered(RequestID(1))
        #expect(first == nil)
        #expect(ledger.nextPending(.beforeSubscriptions) == .bandwidth(.limited(2)))
    }

    @Test func nothingOutlivesTheSession() {
        var ledger = RequestLedger()
        ledger.ask(.bandwidth(.unlimited))
        ledger.ask(.transportSwitch(cause: "slow"))
        ledger.dropTransportSwitch()
        #expect(ledger.nextPending(.beforeSubscriptions) == .bandwidth(.unlimited))
        ledger.sessionEnded()
        #expect(!ledger.hasPending)
    }
}
