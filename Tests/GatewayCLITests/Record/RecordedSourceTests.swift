internal import JSONText
internal import Testing

@testable internal import GatewayCLI

/// What `record --feed` reads.
struct RecordedSourceTests {
    private static func source(
        _ patterns: [String],
        items: String? = nil,
        fields: String? = nil
    ) throws -> RecordedSource {
        let list = patterns.map { #"{"pattern":"\#($0)"}"# }.joined(separator: ",")
        let feed = try JSONValue(parsing: #"{"items":[\#(list)],"fields":[{"name":"bid"},{"name":"ask"}]}"#)
        return try .feed("big", of: "http://a", describedAs: feed, items: items, fields: fields)
    }

    /// The request named all items: with more than about a thousand it was refused for its length.
    @Test func theRequestForAWholeFeedNamesNoItems() throws {
        let source = try Self.source(["item{1…10000}", "a,b"])
        #expect(source.arguments == ["--feed=big"])
        #expect(try source.watch().itemNames.isEmpty)
        #expect(source.segment.items.count == 10_001)
        #expect(source.segment.fields == ["bid", "ask"])
    }

    @Test func theRequestNamesTheItemsAndFieldsOfTheUser() throws {
        let source = try Self.source(["item{1…10000}"], items: "item2,,item1", fields: "ask")
        #expect(source.arguments == ["--feed=big", "--items=item2,item1", "--fields=ask"])
        #expect(source.segment.items == ["item2", "item1"])
        #expect(source.segment.fields == ["ask"])
    }

    /// 400 KB of patterns took 8 GB and more.
    @Test func aFeedHasNotMoreItemsThanASubscription() throws {
        let patterns = Array(repeating: "item{1…10000}", count: 20_000)
        let failure = #expect(throws: WatchFailure.self) { try Self.source(patterns) }
        #expect(failure?.sentence == "The feed big has over 100000 items: use --items.")
        #expect(throws: Never.self) { try Self.source(patterns, items: "item1") }
    }
}
