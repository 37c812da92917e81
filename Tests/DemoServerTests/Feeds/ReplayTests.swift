internal import TLCP
internal import Testing

@testable internal import DemoServer

struct ReplayTests {
    /// Events in batches, as a file has them in blocks.
    private struct Source: ReplaySource {
        var batches: [[ReplayedEvent]]

        mutating func next() -> [ReplayedEvent]? { batches.isEmpty ? nil : batches.removeFirst() }
    }

    private static func row(
        _ milliseconds: Int,
        _ item: String,
        _ price: String,
        isSnapshot: Bool = false
    ) -> ReplayedEvent {
        ReplayedEvent(
            time: .milliseconds(milliseconds),
            adapter: "QUOTES",
            request: .publish(item: item, values: ["Alder", price]),
            isSnapshot: isSnapshot
        )
    }

    private static let batches = [
        [row(0, "item1", "1.00", isSnapshot: true), row(5, "item2", "2.00", isSnapshot: true)],
        [row(1_000, "item1", "1.01"), row(2_000, "item2", "2.01")], [], [row(4_000, "item1", "1.02")],
    ]

    private static func directory(_ change: (inout ReplayConfiguration) -> Void = { _ in }) -> FeedDirectory {
        FeedDirectory(
            ServerBench.still { configuration in
                var replay = ReplayConfiguration(source: Source(batches: batches))
                change(&replay)
                configuration.replay = replay
            },
            clockStart: 0
        )
    }

    private static func prices(_ events: [(feed: Int, event: FeedEvent)]) -> [String?] {
        events.map { if case .row(let row) = $0.event.content { row.values[1] } else { nil } }
    }

    private static func price(of item: String, _ feeds: FeedDirectory) throws -> String? {
        let quotes = try #require(feeds.index(named: "QUOTES"))
        return feeds.snapshot(of: item, in: quotes).rows.last?.values[1]
    }

    @Test func aReplayStartsWithTheFirstSubscriptionAndHasItsSnapshotBefore() throws {
        var feeds = Self.directory()
        let quotes = try #require(feeds.index(named: "QUOTES"))
        #expect(try Self.price(of: "item1", feeds) == "1.00")
        #expect(try Self.price(of: "item2", feeds) == "2.00")
        #expect(feeds.nextChange == nil)
        feeds.subscribed(to: quotes, at: .seconds(60))
        feeds.subscribed(to: quotes, at: .seconds(61))
        #expect(feeds.nextChange == .seconds(61))
        #expect(Self.prices(feeds.advance(to: .milliseconds(60_999))).isEmpty)
        #expect(Self.prices(feeds.advance(to: .seconds(62))) == ["1.01", "2.01"])
        #expect(feeds.nextChange == .seconds(64))
        #expect(Self.prices(feeds.advance(to: .seconds(100))) == ["1.02"])
        #expect(feeds.nextChange == nil)
    }

    @Test func manyEventsOfOneInstantArePublishedInParts() throws {
        let rows = (0..<2_500).map { Self.row(1_000, "item1", "\($0)") }
        let batches = [Array(rows.prefix(1_000)), Array(rows.dropFirst(1_000))]
        var feeds = Self.directory { $0.source = Source(batches: batches) }
        feeds.subscribed(to: try #require(feeds.index(named: "QUOTES")), at: .zero)
        var prices: [String?] = []
        for count in [1_000, 1_000, 500] {
            #expect(feeds.nextChange == .seconds(1))
            let part = Self.prices(feeds.advance(to: .seconds(1)))
            #expect(part.count == count)
            prices += part
        }
        #expect(prices == (0..<2_500).map { "\($0)" })
        #expect(feeds.nextChange == nil)
    }

    /// 1,000 long rows were published together: a small recording took gigabytes.
    @Test func longRowsOfOneInstantArePublishedInParts() throws {
        let values = [String?](repeating: nil, count: 1 << 15)
        var event = Self.row(1_000, "item1", "")
        event.request = .publish(item: "item1", values: values)
        var timeline = ReplayTimeline(ReplayConfiguration(source: Source(batches: [Array(repeating: event, count: 5)])))
        timeline.start(at: .zero)
        #expect((0..<4).map { _ in timeline.advance(to: .seconds(1)).count } == [2, 2, 1, 0])
    }

    /// A client that named no Data Adapter of the recording received random quotes.
    @Test(arguments: ["DEFAULT", "QUOTE_ADAPTER", "PORTFOLIO_ADAPTER", "CHAT_ROOM", "RAW_FEED", "JSON_FEED"])
    func aReplayHasNoDataBesideThoseOfTheRecording(adapter: String) {
        #expect(Self.directory().index(named: adapter) == nil)
        #expect(FeedDirectory(ServerBench.still(), clockStart: 0).index(named: adapter) != nil)
    }

    @Test func speedAndStartChangeTheTimes() throws {
        var feeds = Self.directory {
            $0.speed = 10
            $0.start = .milliseconds(1_500)
        }
        #expect(try Self.price(of: "item1", feeds) == "1.01")
        feeds.subscribed(to: try #require(feeds.index(named: "QUOTES")), at: .zero)
        #expect(feeds.nextChange == .milliseconds(50))
        #expect(Self.prices(feeds.advance(to: .milliseconds(50))) == ["2.01"])
        #expect(feeds.nextChange == .milliseconds(250))
    }

    @Test func aReplayInALoopBeginsAgainASecondAfterItsEnd() throws {
        var feeds = Self.directory { $0.loops = true }
        feeds.subscribed(to: try #require(feeds.index(named: "QUOTES")), at: .zero)
        #expect(Self.prices(feeds.advance(to: .seconds(4))) == ["1.01", "2.01", "1.02"])
        #expect(feeds.nextChange == .seconds(5))
        #expect(Self.prices(feeds.advance(to: .milliseconds(5_005))) == ["1.00", "2.00"])
        #expect(feeds.nextChange == .seconds(6))
        #expect(Self.prices(feeds.advance(to: .seconds(9))) == ["1.01", "2.01", "1.02"])
    }

    @Test func aReplayWithoutEventsNeverChanges() throws {
        for batches in [[], [[]], [Self.batches[0]]] {
            var feeds = Self.directory {
                $0.source = Source(batches: batches)
                $0.loops = true
            }
            feeds.subscribed(to: try #require(feeds.index(named: "QUOTES")), at: .zero)
            #expect(feeds.nextChange == nil)
            #expect(feeds.advance(to: .seconds(10)).isEmpty)
        }
    }

    @Test func itemsOfAFeedMayHaveModesOfTheirOwn() throws {
        var manual = ManualFeedConfiguration(items: ["a", "b"], fields: ["key", "command"])
        manual.modes = ["b": .command]
        let feeds = FeedDirectory(ServerBench.still { $0.manualFeeds = ["MIXED": manual] }, clockStart: 0)
        let index = try #require(feeds.index(named: "MIXED"))
        #expect(feeds.item("a", of: index)?.mode == .merge)
        #expect(feeds.item("b", of: index)?.mode == .command)
    }
}

struct InjectionTests {
    private static func injected(_ body: String) throws -> [FeedEvent] {
        var feeds = FeedDirectory(ServerBench.still(), clockStart: 0)
        return try feeds.injected(InjectedUpdate(Array(body.utf8))).map(\.event)
    }

    @Test func anUpdateChangesItsFieldsOfThePresentRow() throws {
        let feeds = FeedDirectory(ServerBench.still(), clockStart: 0)
        let quotes = try #require(feeds.index(named: "DEFAULT"))
        var values = try #require(feeds.snapshot(of: "item1", in: quotes).rows.last?.values)
        values[1] = "0.01"
        values[2] = nil
        let body = #"{"item": "item1", "fields": {"last_price": "0.01", "time": null}}"#
        #expect(try Self.injected(body) == [FeedEvent(item: "item1", content: .row(FeedRow(values: values)))])
    }

    @Test func aKeyIsDeletedAndAnItemIsCleared() throws {
        let body =
            #"{"adapter": "PORTFOLIO_ADAPTER", "item": "portfolio1", "fields": {"key": "x", "command": "DELETE"}}"#
        let row = FeedRow(values: ["x", "DELETE", nil], command: RowCommand(key: UpstreamName("x"), kind: .delete))
        #expect(try Self.injected(body) == [FeedEvent(item: "portfolio1", content: .row(row))])
        let clear = #"{"adapter": "CHAT_ROOM", "item": "chat_room", "event": "clear-snapshot"}"#
        #expect(try Self.injected(clear) == [FeedEvent(item: "chat_room", content: .cleared)])
        let lost = #"{"item": "item1", "event": "lost-updates", "count": 3}"#
        #expect(try Self.injected(lost) == [FeedEvent(item: "item1", content: .lost(3))])
    }

    @Test func fieldsAreToldApartByTheirBytes() throws {
        let names = ManualFeedConfiguration(items: ["a"], fields: ["\u{E9}", "e\u{301}"])
        var feeds = FeedDirectory(ServerBench.still { $0.manualFeeds["NAMES"] = names }, clockStart: 0)
        for (fields, values) in [
            (#"{"\u00e9": "1", "e\u0301": "2"}"#, ["1", "2"]), (#"{"e\u0301": "3"}"#, ["1", "3"]),
        ] {
            let body = #"{"adapter": "NAMES", "item": "a", "fields": \#(fields)}"#
            let events = try feeds.injected(InjectedUpdate(Array(body.utf8))).map(\.event)
            #expect(events == [FeedEvent(item: "a", content: .row(FeedRow(values: values)))])
        }
    }

    @Test(arguments: [
        ("[]", 400, "the body must be a JSON object"), ("{", 400, "the body must be a JSON object"),
        (#"{"itme": "item1"}"#, 400, "unknown member: itme"), ("{}", 400, "item: must be a name"),
        (#"{"item": "item1"}"#, 400, "fields: must be an object of values"),
        (#"{"item": "item1", "fields": {"last_price": 1}}"#, 400, "fields.last_price: must be a string or null"),
        (#"{"item": "item1", "fields": {"price": "1"}}"#, 400, "fields: there is no price"),
        (#"{"item": "item99", "fields": {"last_price": "1"}}"#, 404, "item: there is no item99"),
        (#"{"item": "item1", "adapter": "X", "fields": {"a": "1"}}"#, 404, "adapter: there is no X"),
        (
            #"{"item": "item1", "event": "x"}"#, 400,
            "event: must be update, clear-snapshot, end-of-snapshot or lost-updates"
        ),
        (#"{"item": "item1", "event": "lost-updates"}"#, 400, "count: must be 1 or more"),
        (
            #"{"adapter": "PORTFOLIO_ADAPTER", "item": "portfolio1", "fields": {"qty": "1"}}"#, 400,
            "fields: key and command (ADD, UPDATE or DELETE) are needed"
        ),
    ])
    func aMistakeIsNamed(body: String, status: Int, reason: String) throws {
        let refusal = #expect(throws: InjectionRefusal.self) { try Self.injected(body) }
        #expect(refusal == InjectionRefusal(status: status, reason))
    }

    @Test func updatesAreInjectedOnlyWhereFaultsAreAccepted() throws {
        let body = #"{"item": "item1", "fields": {"last_price": "0.01"}}"#
        let request = HTTPRequestText(method: "POST", path: "/v1/updates", body: Array(body.utf8))
        for (isAllowed, status) in [(false, 404), (true, 200)] {
            var machine = DemoServerMachine(ServerBench.still { $0.acceptsFaultsFromClients = isAllowed })
            let actions = machine.requested(request, on: LinkID(1), from: "127.0.0.1", at: .zero)
            guard case .respond(_, let answer) = actions.first else {
                Issue.record("no response: \(actions)")
                continue
            }
            #expect(answer.status == status)
            if isAllowed { #expect(String(decoding: answer.body, as: UTF8.self) == "{\"subscriptions\":0}\n") }
        }
    }
}
