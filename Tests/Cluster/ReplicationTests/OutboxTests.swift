import Changes
import SessionCore
import TestSupport
import Testing

@testable import Replication

/// The limit of the records that wait for the log.
struct OutboxTests {
    /// An outbox of 1,000 bytes with a report of more than 2,400, as of a COMMAND subscription with many rows.
    private static func outboxAfterReport() -> Outbox {
        var outbox = Outbox(limit: 1_000)
        outbox.open()
        for _ in 0..<3 { append(to: &outbox) }
        outbox.endReport()
        return outbox
    }

    private static func append(to outbox: inout Outbox) {
        let content = [UInt8](repeating: 1, count: 800)
        let specification = ResourceSpecification(group: "s", upstream: nil, content: content)
        _ = outbox.append(request: .specify(id: "s", specification))
    }

    @Test
    func reportOfAMemberThatJoinsMayExceedTheLimit() {
        let outbox = Self.outboxAfterReport()
        #expect(!outbox.hasOverflowed && outbox.count > 2_400)
    }

    @Test
    func limitHoldsForRecordsAfterTheReport() {
        var outbox = Self.outboxAfterReport()
        Self.append(to: &outbox)
        #expect(!outbox.hasOverflowed)
        Self.append(to: &outbox)
        #expect(outbox.hasOverflowed && outbox.isEmpty)
    }

    @Test
    func limitIsTheFormerOneOnceTheReportIsWritten() {
        var outbox = Self.outboxAfterReport()
        while !outbox.takeRecords(atMost: 1, bytes: 1).isEmpty {}
        Self.append(to: &outbox)
        #expect(!outbox.hasOverflowed)
        Self.append(to: &outbox)
        #expect(outbox.hasOverflowed && outbox.isEmpty)
    }

    /// An outbox of 1,000 bytes, in which a record of about 800 fits, after some overflows with a new membership after each.
    private static func outbox(afterOverflows count: Int) -> Outbox {
        var outbox = Outbox(limit: 1_000)
        for _ in 0..<count {
            rejoin(&outbox)
            while !outbox.hasOverflowed { append(to: &outbox) }
        }
        rejoin(&outbox)
        return outbox
    }

    private static func rejoin(_ outbox: inout Outbox) {
        outbox.close()
        outbox.open()
        outbox.endReport()
    }

    /// The greatest number of bytes that wait before an overflow.
    private static func mostBytes(in outbox: Outbox) -> Int {
        var (outbox, most) = (outbox, 0)
        while !outbox.hasOverflowed {
            most = max(most, outbox.count)
            append(to: &outbox)
        }
        return most
    }

    /// The snapshot of a large table comes again on each owner: some owner has to have room for the snapshot.
    @Test(arguments: zip(0...6, [1_000, 2_000, 3_000, 5_000, 5_000, 5_000, 5_000]))
    func limitGrowsWithOverflowsInARow(overflows: Int, limit: Int) {
        let most = Self.mostBytes(in: Self.outbox(afterOverflows: overflows))
        #expect(most <= limit && most > limit - 900)
    }

    @Test
    func overflowIsKnownUntilTheMemberJoinsAgain() {
        var outbox = Outbox(limit: 1_000)
        Self.rejoin(&outbox)
        while !outbox.hasOverflowed { Self.append(to: &outbox) }
        #expect(outbox.isOpen)
        outbox.close()
        #expect(outbox.hasOverflowed && !outbox.isOpen)
        outbox.open()
        #expect(!outbox.hasOverflowed)
    }

    @Test
    func limitIsTheFormerOneOnceWhatExceedsTheLimitIsWritten() {
        var outbox = Self.outbox(afterOverflows: 3)
        for _ in 0..<5 {
            Self.append(to: &outbox)
            #expect(!outbox.takeRecords(atMost: 1, bytes: 1).isEmpty)
        }
        #expect(Self.mostBytes(in: outbox) <= 1_000)
        // The next overflow is again the first one.
        while !outbox.hasOverflowed { Self.append(to: &outbox) }
        Self.rejoin(&outbox)
        #expect(1_001...2_000 ~= Self.mostBytes(in: outbox))
    }

    /// The pool reports the removal of a shared subscription only if it had opened the subscription.
    @Test(arguments: [true, false])
    func sharedSubscriptionIsForgottenWhenThePoolHasNothingOfIt(isOpened: Bool) {
        var outbox = Outbox(limit: 1_000)
        outbox.open()
        outbox.begin("s", term: 1)
        outbox.end("s", isOpened: isOpened)
        let properties = SubscriptionProperties(mode: .merge, items: .list(["i"]), fields: .list(["f"]))
        let isOwn = outbox.concernsOwnTopic(.subscription("s", .added(properties)))
        #expect(isOwn != isOpened)
        _ = outbox.append(.subscription("s", .removed))
        #expect(outbox.isEmpty == isOpened)
    }
}
