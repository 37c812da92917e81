import NIOCore
import Testing

@testable import GatewayCLI

/// What a benchmark finds in the events of its streams.
@Suite struct BenchLedgerTests {
    /// Streams with these positions, each event as a live update that stands for one.
    private func ledger(_ streams: [[UInt64]]) -> BenchLedger {
        let ledger = BenchLedger()
        for positions in streams {
            let stream = ledger.add()
            for position in positions { receive(.init(position: position), ledger, stream) }
        }
        return ledger
    }

    private func receive(_ event: BenchLedger.Event, _ ledger: BenchLedger, _ stream: Int, at seconds: Int64 = 0) {
        ledger.received(event, stream: stream, at: .uptimeNanoseconds(UInt64(seconds) * 1_000_000_000), milliseconds: 0)
    }

    @Test func streamsThatJoinAndLeaveAtOtherPlacesLackNothing() {
        let losses = ledger([[1, 2, 4, 7], [2, 4], [4, 7]]).losses(at: .uptimeNanoseconds(0))
        #expect(losses.holes == 0 && losses.stale == 0)
    }

    @Test func anUpdateThatOthersHaveIsAHole() {
        #expect(ledger([[1, 2, 4, 7], [1, 7]]).losses(at: .uptimeNanoseconds(0)).holes == 2)
    }

    @Test func aConflatedUpdateStandsForItsNumber() {
        let ledger = ledger([[1, 2, 4, 7]])
        let stream = ledger.add()
        receive(.init(position: 1), ledger, stream)
        receive(.init(position: 7, updates: 3), ledger, stream)
        #expect(ledger.losses(at: .uptimeNanoseconds(0)).holes == 0)
        #expect(ledger.counts.conflated == 2)
    }

    /// A program that is no gateway may tell any number.
    @Test func largeNumbersOfConflatedUpdatesAreCountedUpToALimit() {
        let ledger = ledger([[1]])
        for position: UInt64 in 2...21 {
            receive(.init(position: position, updates: 999_999_999_999_999_999), ledger, 0)
        }
        #expect(ledger.counts.conflated == BenchLedger.mostUpdates)
        #expect(ledger.losses(at: .uptimeNanoseconds(0)).holes == 0)
    }

    @Test func doublesAndOtherOrdersAreCounted() {
        let ledger = ledger([[1, 2, 2, 4, 3]])
        #expect(ledger.counts.doubled == 1)
        #expect(ledger.counts.outOfOrder == 1)
    }

    @Test func aSnapshotIsNoPartOfTheSequence() {
        let ledger = ledger([[5, 6]])
        let stream = ledger.add()
        receive(.init(position: 3, isSnapshot: true), ledger, stream)
        receive(.init(position: 5), ledger, stream)
        receive(.init(position: 6), ledger, stream)
        #expect(ledger.losses(at: .uptimeNanoseconds(0)).holes == 0)
    }

    @Test func aStreamWithoutTheLatestEventIsStaleAfterASecond() {
        let ledger = BenchLedger()
        let streams = [ledger.add(), ledger.add()]
        receive(.init(position: 1), ledger, streams[0])
        receive(.init(position: 1), ledger, streams[1])
        receive(.init(position: 2), ledger, streams[0], at: 5)
        #expect(ledger.losses(at: .uptimeNanoseconds(5_900_000_000)).stale == 0)
        #expect(ledger.losses(at: .uptimeNanoseconds(6_100_000_000)).stale == 1)
    }

    /// Delays of a wrong field were those since the first arrival, or the time since 1970.
    @Test(arguments: [nil, 0, 6, 1_796_020_197, 1_796_020_197_561_000] as [Int64?])
    func updatesWithoutATimeHaveNoDelayFromIt(madeAt: Int64?) {
        let ledger = BenchLedger(isTimed: true)
        #expect(!ledger.lacksTimes)
        receive(.init(position: 1, madeAt: madeAt), ledger, ledger.add())
        #expect(ledger.delays.count == 0 && ledger.lacksTimes)
        let now = NIODeadline.uptimeNanoseconds(1)
        let event = BenchLedger.Event(position: 2, madeAt: 1_796_020_197_561)
        ledger.received(event, stream: 0, at: now, milliseconds: 1_796_020_197_563)
        #expect(ledger.delays.longest == .milliseconds(2) && !ledger.lacksTimes)
    }

    @Test func aClosedStreamIsNotStale() {
        let ledger = BenchLedger()
        let streams = [ledger.add(), ledger.add()]
        ledger.streamClosed(streams[1], reason: "shutdown")
        receive(.init(position: 1), ledger, streams[0])
        #expect(ledger.losses(at: .uptimeNanoseconds(2_000_000_000)).stale == 0)
        #expect(ledger.counts.closed == 1)
        #expect(ledger.closures == ["shutdown": 1])
    }

    @Test func afterAGapNothingBeforeIsMissing() {
        let ledger = ledger([[1, 2, 3, 4]])
        let stream = ledger.add()
        receive(.init(position: 1), ledger, stream)
        ledger.restarted(stream: stream)
        receive(.init(position: 4), ledger, stream)
        #expect(ledger.losses(at: .uptimeNanoseconds(0)).holes == 0)
        #expect(ledger.counts.gaps == 1)
    }

    @Test(arguments: [(0.5, 1.0), (0.99, 1.0), (1.0, 900.0)])
    func percentilesAreWithinATenth(share: Double, milliseconds: Double) {
        var delays = DelayHistogram()
        for _ in 0..<999 { delays.add(.milliseconds(1)) }
        delays.add(.milliseconds(900))
        #expect(abs(delays.percentile(share) - milliseconds) <= milliseconds / 8)
    }
}
