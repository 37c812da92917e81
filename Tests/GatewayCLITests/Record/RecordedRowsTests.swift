internal import Recording
internal import Testing

@testable internal import GatewayCLI

struct RecordedRowsTests {
    private static func update(
        _ item: String,
        _ fields: [(String, String?)],
        key: String? = nil,
        command: String? = nil
    ) -> WatchEvent {
        var update = WatchUpdate(item: item)
        update.key = key
        update.command = command
        update.fields = fields.map { .init(name: $0.0, value: $0.1) }
        return .update(update)
    }

    @Test func changesOfAnItemAreRecordedAsRows() {
        var rows = RecordedRows(
            RecordedSegment(start: 0, mode: "MERGE", items: ["a", "b"], fields: ["x", "y"])
        )
        let first = rows.content(of: Self.update("b", [("x", "1"), ("y", "2")]))
        #expect(first?.item == 1 && first?.content == .row(["1", "2"], isSnapshot: false))
        #expect(rows.content(of: Self.update("a", [("y", "3")]))?.content == .row([nil, "3"], isSnapshot: false))
        #expect(rows.content(of: Self.update("b", [("y", nil)]))?.content == .row(["1", nil], isSnapshot: false))
        #expect(rows.content(of: Self.update("c", [("y", nil)])) == nil)
        #expect(rows.content(of: .status("CONNECTING")) == nil)
    }

    /// A field that was named twice ended the process.
    @Test func aFieldThatIsRecordedTwiceHasItsValueInBothPlaces() {
        var rows = RecordedRows(RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x", "x", "y"]))
        let first = rows.content(of: Self.update("a", [("x", "1"), ("x", "1"), ("y", "2")]))
        #expect(first?.content == .row(["1", "1", "2"], isSnapshot: false))
        let second = rows.content(of: Self.update("a", [("y", "3")]))
        #expect(second?.content == .row(["1", "1", "3"], isSnapshot: false))
    }

    @Test func fieldsAreComparedByTheirBytes() {
        var rows = RecordedRows(
            RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["\u{E4}", "a\u{308}"])
        )
        let content = rows.content(of: Self.update("a", [("a\u{308}", "1"), ("\u{E4}", "2")]))?.content
        #expect(content == .row(["2", "1"], isSnapshot: false))
    }

    @Test func rowsOfACommandItemAreThoseOfTheirKeys() {
        var rows = RecordedRows(
            RecordedSegment(start: 0, mode: "COMMAND", items: ["a"], fields: ["key", "command", "n"])
        )
        _ = rows.content(of: Self.update("a", [("n", "1")], key: "k", command: "ADD"))
        _ = rows.content(of: Self.update("a", [("n", "2")], key: "l", command: "ADD"))
        let same = rows.content(of: Self.update("a", [], key: "k", command: "UPDATE"))
        #expect(same?.content == .row(["k", "UPDATE", "1"], isSnapshot: false))
        _ = rows.content(of: Self.update("a", [("n", nil)], key: "k", command: "DELETE"))
        let new = rows.content(of: Self.update("a", [], key: "k", command: "ADD"))
        #expect(new?.content == .row(["k", "ADD", nil], isSnapshot: false))
    }

    @Test func aSecondSubscriptionBeginsAnew() {
        var rows = RecordedRows(RecordedSegment(start: 0, mode: "MERGE", items: ["a"], fields: ["x"]))
        let subscribed = WatchEvent.other(name: "subscribed", content: "{}")
        #expect(rows.content(of: subscribed) == nil)
        _ = rows.content(of: Self.update("a", [("x", "1")]))
        #expect(rows.content(of: .other(name: "stream", content: #"{"resume":"resumed"}"#)) == nil)
        #expect(rows.content(of: subscribed)?.content == .restarted)
        #expect(rows.content(of: Self.update("a", []))?.content == .row([nil], isSnapshot: false))
    }

    /// A server sends what differs from the last row, whether or not the rows were cleared.
    @Test func theLastRowStaysWhenRowsAreCleared() {
        let cleared = WatchEvent.other(name: "clear-snapshot", content: #"{"item":"a"}"#)
        var news = RecordedRows(RecordedSegment(start: 0, mode: "DISTINCT", items: ["a"], fields: ["x", "y"]))
        _ = news.content(of: Self.update("a", [("x", "1"), ("y", "2")]))
        #expect(news.content(of: cleared)?.content == .cleared)
        #expect(news.content(of: Self.update("a", [("x", "3")]))?.content == .row(["3", "2"], isSnapshot: false))
        var keys = RecordedRows(
            RecordedSegment(start: 0, mode: "COMMAND", items: ["a"], fields: ["key", "command", "n"])
        )
        _ = keys.content(of: Self.update("a", [("n", "1")], key: "k", command: "ADD"))
        _ = keys.content(of: cleared)
        let added = keys.content(of: Self.update("a", [], key: "k", command: "ADD"))
        #expect(added?.content == .row(["k", "ADD", nil], isSnapshot: false))
    }

    @Test func otherEventsOfAnItemAreRecorded() {
        var rows = RecordedRows(RecordedSegment(start: 0, mode: "DISTINCT", items: ["a"], fields: ["x"]))
        for (name, text, content) in [
            ("end-of-snapshot", #"{"item":"a"}"#, RecordedEvent.Content.endOfSnapshot),
            ("clear-snapshot", #"{"item":"a"}"#, .cleared), ("lost-updates", #"{"item":"a","count":7}"#, .lost(7)),
        ] {
            #expect(rows.content(of: .other(name: name, content: text))?.content == content)
        }
        #expect(rows.content(of: .other(name: "real-max-frequency", content: #"{"item":"a"}"#)) == nil)
    }
}
