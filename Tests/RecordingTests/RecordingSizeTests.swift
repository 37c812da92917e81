internal import Primitives
internal import Recording
internal import Testing

@testable internal import DemoServer

struct RecordingSizeTests {
    /// The quotes of the demo server at 5,000 updates a second, in blocks of half a second as `record` writes them.
    @Test func anHourOfFiveThousandQuotesASecondNeedsLessThan200Megabytes() throws {
        var configuration = DemoServerConfiguration()
        configuration.feeds.quotePause = .milliseconds(2)...(.milliseconds(10))
        var feed = QuoteFeed(configuration.feeds, seed: configuration.seed, clockStart: 1_700_000_000_000)
        let items = (1...30).map { "item\($0)" }
        let segment = RecordedSegment(start: 0, mode: "MERGE", items: items, fields: feed.fields)
        var encoder = RecordingEncoder(segment)
        var bytes = 0
        var updates = 0
        for millisecond in 1...4_000 {
            for event in feed.advance(to: .milliseconds(millisecond)) {
                guard case .row(let row) = event.content else { continue }
                let index = try #require(items.firstIndex(of: event.item))
                encoder.append(
                    RecordedEvent(time: Int64(millisecond), item: index, .row(row.values, isSnapshot: false))
                )
                updates += 1
            }
            guard millisecond % 500 == 0 else { continue }
            bytes += try #require(encoder.takeBlock()?.frame()?.count)
        }
        let each = Double(bytes) / Double(updates)
        print("recording: \(updates) updates in 4 s, \(each) bytes each, \(each * 18) MB in an hour of 5,000 a second")
        #expect(updates > 18_000)
        #expect(each <= 11)
    }
}
