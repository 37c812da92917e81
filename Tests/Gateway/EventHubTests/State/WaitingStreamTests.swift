internal import Changes
internal import SessionCore
internal import Testing

@testable import EventHub

/// Streams that were admitted before they may begin.
@Suite struct WaitingStreamTests {
    private let quotes = SubscriptionProperties.quotes

    private func makeHarness() -> HubHarness {
        let harness = HubHarness(numbering: .given)
        let changes: [Change] = [
            .client("c", .added(.connectedWSStreaming)), .subscription("s", .added(quotes)),
            .subscription("s", .carried(by: "c")), .subscription("s", .event(quotes.subscribed)),
        ]
        apply(changes, at: 1, to: harness)
        return harness
    }

    private func apply(_ changes: [Change], at position: UInt64, to harness: HubHarness) {
        let numbered = changes.enumerated().map { NumberedChange(index: UInt16($0), change: $1) }
        harness.hub.apply(numbered, at: position)
    }

    private func publish(_ value: String, at position: UInt64, to harness: HubHarness) {
        apply([.subscription("s", .event(quotes.update([value, "", ""])))], at: position, to: harness)
    }

    private func open(in harness: HubHarness, after last: String? = nil) throws -> TestStream {
        var request = StreamRequest(sources: [.subscription("s")])
        request.lastEventID = last
        return try harness.open(request, isWaiting: true)
    }

    private func begin(_ stream: TestStream, in harness: HubHarness) {
        harness.hub.begin(stream: stream.subscriber.id)
        harness.pass()
    }

    @Test func aWaitingStreamGetsNothingBeforeItBegins() throws {
        let harness = makeHarness()
        let stream = try open(in: harness)
        publish("1", at: 2, to: harness)
        harness.pass()
        #expect(try stream.events.isEmpty)
        begin(stream, in: harness)
        publish("2", at: 3, to: harness)
        harness.pass()
        #expect(try stream.names.count { $0 == "update" } == 2)
    }

    @Test func aWaitingStreamResumesFromAnEventThatWasNotThereWhenItWasAdmitted() throws {
        let harness = makeHarness()
        let last = "e1-\(EventNumber.number(position: 3, index: 0))"
        let stream = try open(in: harness, after: last)
        for position in 2...4 { publish("\(position)", at: UInt64(position), to: harness) }
        begin(stream, in: harness)
        #expect(try stream.events.first?["resume"]?.string == "resumed")
        #expect(try stream.events.dropFirst().map(\.id) == ["e1-\(EventNumber.number(position: 4, index: 0))"])
    }

    @Test func aStreamThatBeginsBeforeItsLoopOpensItDoesNotWait() throws {
        let harness = makeHarness()
        let id = try harness.hub.admit(StreamRequest(sources: [.subscription("s")]), isWaiting: true)
        harness.hub.begin(stream: id)
        #expect(harness.hub.outcome(of: id) == nil)
        let stream = try open(in: harness)
        begin(stream, in: harness)
        #expect(harness.hub.outcome(of: stream.subscriber.id) == .fresh)
    }

    @Test func anotherEpochDoesNotBeginAWaitingStream() throws {
        let harness = makeHarness()
        let stream = try open(in: harness, after: "e1-5")
        harness.hub.restart(epoch: "e2", at: 7)
        harness.pass()
        #expect(try stream.events.isEmpty)
        begin(stream, in: harness)
        #expect(try stream.events.first?["resume"]?.string == "gap")
        publish("1", at: 8, to: harness)
        harness.pass()
        #expect(try stream.events.last?.id == "e2-\(EventNumber.number(position: 8, index: 0))")
    }

    @Test func aWaitingStreamThatIsClosedEndsWithTheReason() throws {
        let harness = makeHarness()
        let stream = try open(in: harness)
        harness.hub.close(stream: stream.subscriber.id, reason: EventHub.behind)
        harness.pass()
        begin(stream, in: harness)
        #expect(stream.isFinished)
        let closing = try #require(try stream.events.first)
        #expect(try stream.events.count == 1 && closing["reason"]?.string == "behind")
    }
}
