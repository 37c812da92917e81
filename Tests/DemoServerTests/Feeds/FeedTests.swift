internal import TLCP
internal import Testing

@testable internal import DemoServer

struct FeedTests {
    private func directory(seed: UInt64 = 1) -> FeedDirectory {
        var configuration = DemoServerConfiguration()
        configuration.seed = seed
        return FeedDirectory(configuration, clockStart: 1_700_000_000_000)
    }

    private func history(seed: UInt64, steps: Int) -> [String] {
        var feeds = directory(seed: seed)
        return (1...steps).flatMap { feeds.advance(to: .milliseconds(100 * $0)).map { "\($0)" } }
    }

    @Test func sameSeedSameHistory() {
        #expect(history(seed: 5, steps: 200) == history(seed: 5, steps: 200))
        #expect(history(seed: 5, steps: 200) != history(seed: 6, steps: 200))
    }

    @Test func everyAdapterHasItsItemsAndFields() {
        let feeds = directory()
        let quotes = feeds.index(named: "QUOTE_ADAPTER")
        #expect(quotes != nil && quotes == feeds.index(named: "DEFAULT"))
        #expect(feeds.index(named: "NOPE") == nil)
        guard let quotes else { return }
        for number in 1...30 { #expect(feeds.item("item\(number)", of: quotes)?.mode == .merge) }
        for name in ["item0", "item31", "item01", "item", "item+1", "Item1", "item99999999999999999999"] {
            #expect(feeds.item(name, of: quotes) == nil)
        }
        #expect(
            feeds.fields(of: quotes) == [
                "stock_name", "last_price", "time", "pct_change", "bid_quantity", "bid", "ask", "ask_quantity", "min",
                "max",
                "ref_price", "open_price", "item_status",
            ]
        )
    }

    @Test func quotesMoveWithinTheirPausesAndStayConsistent() {
        var feed = QuoteFeed(FeedConfiguration(), seed: 3, clockStart: 0)
        var last: [String: Duration] = [:]
        var now = Duration.zero
        for _ in 0..<6_000 {
            guard let next = feed.nextChange else { break }
            now = next
            for event in feed.advance(to: now) {
                guard case .row(let row) = event.content else { continue }
                let pause = now - (last[event.item] ?? .zero)
                #expect(pause >= .milliseconds(200) && pause <= .seconds(2))
                last[event.item] = now
                let numbers = row.values.map { Double($0 ?? "") ?? 0 }
                #expect(numbers[5] < numbers[6], "bid below ask")
                #expect(numbers[8] <= numbers[1] && numbers[1] <= numbers[9], "price between minimum and maximum")
            }
        }
        #expect(last.count == 30)
    }

    @Test func portfolioIsATableOfQuotes() {
        var feed = PortfolioFeed(FeedConfiguration(), seed: 3)
        var table = Dictionary(
            uniqueKeysWithValues: feed.snapshot(of: "portfolio1").rows.map { ($0.values[0], $0.values[2]) }
        )
        #expect(table.count == 5)
        for second in 1...2_000 {
            for event in feed.advance(to: .seconds(second)) {
                guard case .row(let row) = event.content, let command = row.command else { continue }
                switch command.kind {
                case .add: #expect(table.updateValue(row.values[2], forKey: command.key.text) == nil)
                case .update: #expect(table.updateValue(row.values[2], forKey: command.key.text) != nil)
                case .delete: #expect(table.removeValue(forKey: command.key.text) != nil)
                }
                #expect(command.kind.rawValue == row.values[1] && command.key.text == row.values[0])
            }
        }
        let rows = feed.snapshot(of: "portfolio1").rows
        #expect(Dictionary(uniqueKeysWithValues: rows.map { ($0.values[0], $0.values[2]) }) == table)
        #expect(rows.allSatisfy { $0.command?.kind == .add } && rows.count >= 3)
    }

    @Test func chatRemembersItsLastThirtyLines() {
        var feed = ChatFeed(clockStart: 1_000)
        for number in 1...40 { _ = feed.received("line \(number)", from: "::1", at: .seconds(number)) }
        let rows = feed.snapshot(of: "chat_room").rows
        #expect(rows.count == 30)
        #expect(rows.last?.values == ["41000", "line 40", "::1"])
    }

    @Test func handDrivenTablesKeepTheirKeys() {
        let configuration = ManualFeedConfiguration(fields: ["key", "command", "n"], mode: .command)
        var feed = ManualFeed(configuration, remembered: 10)
        _ = feed.requested(.publish(item: "t", values: ["a", "ADD", "1"]))
        _ = feed.requested(.publish(item: "t", values: ["b", "ADD", "1"]))
        _ = feed.requested(.publish(item: "t", values: ["a", "UPDATE", "2"]))
        _ = feed.requested(.publish(item: "t", values: ["b", "DELETE"]))
        #expect(feed.snapshot(of: "t").rows.map(\.values) == [["a", "ADD", "2"]])
        #expect(feed.requested(.publish(item: "t", values: [nil, "ADD"])).isEmpty)
        #expect(feed.requested(.publish(item: "t", values: ["a", "TURN"])).isEmpty)
        #expect(feed.requested(.publish(item: "t", values: ["a", "ADD", "1", "too many"])).isEmpty)
        #expect(feed.requested(.clear(item: "t")) == [FeedEvent(item: "t", content: .cleared)])
        #expect(feed.snapshot(of: "t").rows.isEmpty)
    }

    @Test func snapshotHasTheKeysInTheOrderOfTheirAddition() {
        let configuration = ManualFeedConfiguration(fields: ["key", "command"], mode: .command)
        var feed = ManualFeed(configuration, remembered: 10)
        for key in ["a", "b", "c", "d", "e"] { _ = feed.requested(.publish(item: "t", values: [key, "ADD"])) }
        for key in ["b", "a", "d"] { _ = feed.requested(.publish(item: "t", values: [key, "DELETE"])) }
        for key in ["c", "b", "e"] { _ = feed.requested(.publish(item: "t", values: [key, "UPDATE"])) }
        #expect(feed.snapshot(of: "t").rows.map(\.values) == [["c", "ADD"], ["e", "ADD"], ["b", "ADD"]])
    }

    /// The recording of another server may have one.
    @Test func emptyKeyIsAKeyAsOthers() {
        let configuration = ManualFeedConfiguration(fields: ["key", "command", "n"], mode: .command)
        var feed = ManualFeed(configuration, remembered: 10)
        for values in [["", "ADD", "1"], ["a", "ADD", "1"], ["", "UPDATE", "2"]] {
            #expect(feed.requested(.publish(item: "t", values: values)).count == 1)
        }
        #expect(feed.snapshot(of: "t").rows.map(\.values) == [["", "ADD", "2"], ["a", "ADD", "1"]])
        #expect(feed.requested(.publish(item: "t", values: ["", "DELETE"])).count == 1)
        #expect(feed.snapshot(of: "t").rows.map(\.values) == [["a", "ADD", "1"]])
    }

    /// In `String`s, the composed letter equals the one with a combining mark.
    @Test func namesOfAManualFeedAreToldApartByTheirBytes() {
        let (composed, combined) = ("\u{E9}", "e\u{301}")
        var configuration = ManualFeedConfiguration(items: [composed, combined], fields: [composed, combined])
        configuration.modes = [UpstreamName(combined): .raw]
        configuration.fieldDiffs = [UpstreamName(combined): .jsonPatch]
        var feed = ManualFeed(configuration, remembered: 10)
        #expect(feed.item(named: composed)?.mode == .merge)
        #expect(feed.item(named: combined)?.mode == .raw)
        #expect(feed.item(named: composed)?.fieldDiffs == [1: .jsonPatch])
        configuration.modes = [:]
        feed = ManualFeed(configuration, remembered: 10)
        _ = feed.requested(.publish(item: composed, values: ["1", "2"]))
        #expect(feed.snapshot(of: composed).rows.map(\.values) == [["1", "2"]])
        #expect(feed.snapshot(of: combined).rows.isEmpty)
        configuration.items = [composed]
        #expect(ManualFeed(configuration, remembered: 10).item(named: combined) == nil)
    }
}
