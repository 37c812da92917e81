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
