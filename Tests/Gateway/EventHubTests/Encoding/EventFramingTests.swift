internal import JSONText
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct EventFramingTests {
    @Test func writtenEventsAreParsedBack() {
        var encoder = EventEncoder(epoch: "e")
        encoder.begin("update", 12, .serverSentEvents)
        encoder.json.string("line\nand\rline: ✓")
        encoder.end(.serverSentEvents)
        var bytes = encoder.json.bytes
        encoder.encode(.heartbeat, as: .serverSentEvents)
        bytes += encoder.json.bytes
        encoder.encode(.closing(reason: "deleted", retryMilliseconds: 2500), as: .serverSentEvents)
        bytes += encoder.json.bytes
        var parser = EventStreamParser()
        let events = bytes.flatMap { parser.feed([$0]) }
        #expect(parser.retry == 2500)
        #expect(parser.comments.count == 1)
        #expect(events.count == 2)
        #expect(events.first == ParsedEvent(name: "update", data: #""line\nand\rline: ✓""#, id: "e-12"))
    }
}
