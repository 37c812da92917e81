import Primitives
import Testing

@testable import Gateway
@testable import GatewayCluster

@Suite struct ReceivedCallsTests {
    private func stamp(_ number: UInt64, from sender: UInt64 = 1, at time: Int64 = 0) -> ReceivedCalls.Stamp {
        ReceivedCalls.Stamp(sender: sender, receiver: 9, number: number, time: time)
    }

    @Test func aMessageIsAcceptedOnce() {
        var calls = ReceivedCalls()
        let accepted = [1, 2, 2, 1, 3].map { calls.accept(stamp($0)) }
        #expect(accepted == [true, true, false, false, true])
        let other = calls.accept(stamp(1, from: 2))
        #expect(other)
    }

    @Test func messagesMayArriveInAnotherOrderWithinAWindow() {
        var calls = ReceivedCalls()
        let window = ReceivedCalls.window
        let accepted = [window + 10, 11, 10, 12, 12, 2 * window + 11, window + 11, window + 12].map {
            calls.accept(stamp($0))
        }
        #expect(accepted == [true, true, false, true, false, true, false, true])
    }

    @Test func onlyTheGreatestNumberOfASenderIsKeptAfterManyOthers() {
        var calls = ReceivedCalls()
        let first = [1, 3].map { calls.accept(stamp($0)) }
        for sender in 0..<UInt64(ReceivedCalls.windows) { _ = calls.accept(stamp(1, from: 100 + sender)) }
        let later = [2, 3, 6, 5, 5, 2].map { calls.accept(stamp($0)) }
        #expect(first == [true, true] && later == [false, false, true, true, false, false])
    }

    @Test func theNumberZeroIsNotUsed() {
        var calls = ReceivedCalls()
        let isAccepted = calls.accept(stamp(0))
        #expect(!isAccepted)
    }

    @Test func aRequestIsAcceptedOnceUntilManyOthersHaveFollowed() {
        var requests = ReceivedRequests()
        let limit = UInt64(ReceivedRequests.limit)
        for mark in 0..<limit { _ = requests.accept(mark) }
        let accepted = [0, limit, 0, limit].map { requests.accept($0) }
        #expect(accepted == [false, true, true, false])
    }

    @Test func statesTakeHalfOfTheTimeAtMost() {
        var pace = StatePace()
        let start = Moment.zero + .seconds(10)
        let isFirstAdmitted = pace.admits(at: start)
        pace.add(.seconds(1))
        let later = [1.0, 1.4, 2].map { pace.admits(at: start + .seconds($0)) }
        #expect(isFirstAdmitted && later == [false, false, true])
    }

    @Test func aMessageThatWasWithheldIsTooLate() {
        var calls = ReceivedCalls()
        let accepted = [stamp(1, at: 100_000), stamp(3, at: 160_001), stamp(2, at: 100_000), stamp(4, at: 100_001)]
            .map { calls.accept($0) }
        #expect(accepted == [true, true, false, true])
    }
}
