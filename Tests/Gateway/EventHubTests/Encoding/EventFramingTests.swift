internal import JSONText
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct EventFramingTests {
    @Test func writtenEventsAreParsedBack() {
        var json = JSONBytes()
        let framing = EventFraming(.serverSentEvents)
        EventFraming.writeRetry(2500, in: &json)
        framing.begin("update", epoch: Array("e".utf8), sequence: 12, in: &json)
        json.beginText()
        json.string("line\nand\rline: ✓")
        framing.end(in: &json)
        framing.writeHeartbeat(in: &json)
        var parser = EventStreamParser()
        let events = json.bytes.flatMap { parser.feed([$0]) }
        #expect(parser.retry == 2500)
        #expect(parser.comments.count == 1)
        #expect(events == [ParsedEvent(name: "update", data: #""line\nand\rline: ✓""#, id: "e-12")])
    }
}
