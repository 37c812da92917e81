internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct ResumeTests {
    private let quotes = SubscriptionProperties.quotes

    private func makeHarness(_ change: (inout HubConfiguration) -> Void = { _ in }) -> HubHarness {
        let harness = HubHarness(change)
        harness.addSubscription()
        harness.publish(quotes.subscribed)
        for number in 0..<5 { harness.publish(quotes.update(["\(number)", "", ""])) }
        return harness
    }

    private func resume(_ harness: HubHarness, from id: String?) throws -> TestStream {
        try harness.open(.subscription("s")) { $0.lastEventID = id }
    }

    private func outcome(_ stream: TestStream) throws -> String? { try stream.events.first?["resume"]?.string }

    @Test func eventsAfterTheLastOneAreDelivered() throws {
        let stream = try resume(makeHarness(), from: "e1-4")
        #expect(try outcome(stream) == "resumed")
        #expect(try stream.events.dropFirst().map(\.id) == ["e1-5", "e1-6"])
    }

    @Test func aStreamWithAFrequencyLimitResumesAfterTheNewestEvent() throws {
        let harness = makeHarness()
        let stream = try harness.open(.subscription("s")) {
            $0.lastEventID = "e1-4"
            $0.maxFrequency = 1000
        }
        #expect(try stream.events.dropFirst().map(\.id) == ["e1-6"])
        harness.publish(quotes.update(["9", "", ""]))
        let again = try resume(harness, from: stream.events.last?.id)
        #expect(try outcome(again) == "resumed")
        #expect(try again.events.last?.id == "e1-7")
    }

    @Test func beginningsAreCountedByTheirOutcomes() throws {
        let harness = makeHarness()
        for id in ["e1-4", "e1-5", "e0-4", nil] { _ = try resume(harness, from: id) }
        #expect(harness.hub.beginnings == [.fresh: 1, .resumed: 2, .gap: 1])
    }

    @Test func resumeWithoutNewEventsRepeatsNothing() throws {
        let harness = makeHarness()
        let stream = try resume(harness, from: "e1-6")
        #expect(try outcome(stream) == "resumed")
        #expect(try stream.names.isEmpty)
        harness.deliver(quotes.update(["9", "", ""]))
        #expect(try stream.events.last?.id == "e1-7")
    }

    @Test(arguments: ["other-4", "e1-7", "e1-99999", "nonsense", "e1-", "e1-x", "-3", "e1-99999999999999999999"])
    func unknownIdsMakeAGapAndAFreshSnapshot(id: String) throws {
        let stream = try resume(makeHarness(), from: id)
        #expect(try outcome(stream) == "gap")
        #expect(try stream.names == ["update", "end-of-snapshot"])
    }

    @Test func eventsSinceATimeAreDelivered() throws {
        let harness = makeHarness()
        harness.advance(.seconds(10))
        let since = harness.now
        harness.publish(quotes.update(["7", "", ""]))
        let stream = try harness.open(.subscription("s")) { $0.since = since }
        #expect(try outcome(stream) == "resumed")
        #expect(try stream.events.dropFirst().map(\.id) == ["e1-7"])
        let earlier = try harness.open(.subscription("s")) { $0.since = since - .seconds(3_600) }
        #expect(try earlier.events.dropFirst().map(\.id).first == "e1-1")
    }

    @Test func timeBeforeTheReplayWindowIsAGap() throws {
        let harness = makeHarness { $0.replayEvents = 8 }
        // Only a topic that had a stream has a window.
        harness.close(try harness.open(.subscription("s")))
        let since = harness.now
        for number in 0..<40 {
            harness.advance(.seconds(1))
            harness.publish(quotes.update(["\(number)", "", ""]))
        }
        let stream = try harness.open(.subscription("s")) { $0.since = since }
        #expect(try outcome(stream) == "gap")
        #expect(try stream.names == ["update", "end-of-snapshot"])
        let recent = try harness.open(.subscription("s")) { $0.since = harness.now - .milliseconds(1_500) }
        #expect(try outcome(recent) == "resumed")
        #expect(try recent.names == ["update", "update"])
    }

    @Test func anEmptyIdIsAFreshStart() throws {
        let stream = try resume(makeHarness(), from: "")
        #expect(try outcome(stream) == "fresh")
        #expect(try stream.names == ["update", "end-of-snapshot"])
    }

    @Test func resumeBeforeTheReplayWindowIsAGap() throws {
        let harness = makeHarness { $0.replayEvents = 8 }
        harness.close(try harness.open(.subscription("s")))
        for number in 0..<100 { harness.publish(quotes.update(["\(number)", "", ""])) }
        #expect(try outcome(resume(harness, from: "e1-3")) == "gap")
        #expect(try outcome(resume(harness, from: "e1-98")) == "resumed")
    }

    @Test func theReplayWindowIsBoundedInBytes() throws {
        let harness = makeHarness { $0.replayBytes = 10_000 }
        harness.close(try harness.open(.subscription("s")))
        for _ in 0..<50 { harness.publish(quotes.update([String(repeating: "x", count: 1000), "", ""])) }
        #expect(try outcome(resume(harness, from: "e1-6")) == "gap")
        #expect(try outcome(resume(harness, from: "e1-50")) == "resumed")
    }

    @Test func aSnapshotThatWasCutStartsAnew() throws {
        let harness = makeHarness()
        harness.publish(quotes.update(["b", "", ""], item: 2))
        let joiner = try harness.open(.subscription("s"))
        let ids = try joiner.events.dropFirst().compactMap(\.id)
        #expect(ids.count == 4)
        for id in ids.dropLast() { #expect(try outcome(resume(harness, from: id)) == "gap") }
        #expect(try outcome(resume(harness, from: ids.last)) == "resumed")
    }

    /// A late reader of three subscriptions is cut after each of its events. Whatever it has, no row goes back to an older value,
    /// no deleted row returns, and each message comes once.
    @Test(arguments: 0..<12 as Range<UInt64>, [nil, 1000])
    func rowsDoNotGoBackAfterACutBetweenConflatedEvents(seed: UInt64, maxFrequency: Double?) throws {
        let harness = HubHarness()
        var feed = CountingFeed(seed: seed)
        for (id, properties) in CountingFeed.subscriptions { harness.addSubscription(id, properties) }
        var request = StreamRequest(sources: CountingFeed.subscriptions.map { .subscription($0.0) })
        request.maxFrequency = maxFrequency
        let late = try harness.open(request)
        late.isBlocked = true
        for _ in 0..<300 {
            feed.publish(to: harness)
            harness.pass()
        }
        harness.unblock(late)
        let events = try late.events
        var before = CountedRows()
        for event in events {
            try before.read(event)
            guard let id = event.id else { continue }
            var again = request
            again.lastEventID = id
            let stream = try harness.open(again)
            #expect(try outcome(stream) == "resumed")
            var after = before
            for event in try stream.events { try after.read(event) }
            #expect(after.faults == [], "after \(id)")
            #expect(after.rows == feed.rows && after.messages == feed.messages, "after \(id)")
            harness.close(stream)
        }
        #expect(events.contains { $0["conflated"] != nil })
    }

    /// A reader that keeps up resumes at every update, also where others are late.
    @Test func aReaderThatKeptUpReceivesEveryUpdateThatItMissed() throws {
        let harness = makeHarness()
        let stream = try resume(harness, from: "e1-6")
        for number in 10..<200 { harness.publish(quotes.update(["\(number)", "", ""])) }
        harness.pass()
        #expect(try resume(harness, from: "e1-6").events.dropFirst().map(\.id) == stream.events.dropFirst().map(\.id))
    }

    @Test func aSourceYoungerThanTheLastEventMakesAGap() throws {
        let harness = makeHarness()
        harness.addSubscription("young")
        let stream = try harness.open(
            StreamRequest(sources: [.subscription("s"), .subscription("young")]).resuming("e1-4")
        )
        #expect(try outcome(stream) == "gap")
    }

    /// A stream of a cluster may wait before it begins.
    @Test func aSourceThatIsAddedBeforeTheBeginningMakesAGap() throws {
        let harness = makeHarness()
        harness.subscribe("t")
        harness.publish(quotes.update(["1", "", ""]), to: "t")
        let request = StreamRequest(sources: [.subscription("s")]).resuming(harness.hub.lastID.text)
        let stream = try harness.open(request, isWaiting: true)
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("t")], remove: [])
        harness.hub.begin(stream: stream.subscriber.id)
        harness.pass()
        #expect(try outcome(stream) == "gap")
        let updates = try stream.events.filter { $0.name == "update" }
        #expect(updates.map { $0["subscription"] } == ["s", "t"])
    }

    @Test(arguments: ["other-1", nil])
    func theStreamEventEndsTheOldStateAndTheSnapshotIsTheWholeNewOne(id: String?) throws {
        let harness = HubHarness()
        let rows = SubscriptionProperties.portfolio
        harness.addSubscription("s", rows)
        let first = try harness.open(.subscription("s"))
        harness.publish(rows.subscribed)
        for key in ["kept", "deleted"] { harness.publish(rows.update([key, "ADD", "1"], snapshot: true)) }
        harness.pass()
        var table = TableReader(try first.events)
        #expect(table.rows.keys.sorted() == ["1/deleted", "1/kept"])
        harness.close(first)
        harness.publish(rows.update(["deleted", "DELETE", nil]))
        for event in try resume(harness, from: id).events { table.apply(event) }
        #expect(table.rows.keys.sorted() == ["1/kept"])
    }

    /// As of the hub of a browser, which resumes after the last event of the slowest page.
    @Test func rowsThatOthersMayHaveAreDeleted() throws {
        let rows = SubscriptionProperties.portfolio
        let harness = HubHarness.with("s", rows)
        let stream = try harness.open(.subscription("s"))
        harness.deliver(rows.update(["a", "ADD", "1"]))
        stream.isBlocked = true
        for values in [["a", "UPDATE", "2"], ["m", "ADD", "1"], ["k", "ADD", "1"], ["k", "DELETE", nil]] {
            harness.deliver(rows.update(values))
        }
        for number in 3..<100 { harness.deliver(rows.update(["a", "UPDATE", "\(number)"], changed: [2, 3])) }
        harness.unblock(stream)
        let first = try #require(try stream.events.first { $0["key"] == "a" && $0["conflated"] != nil })
        let resumed = try resume(harness, from: first.id)
        let updates = try resumed.events.filter { $0.name == "update" }
        #expect(updates.map { $0["key"] } == ["m", "k", "a"])
        #expect(updates.map { $0["command"] } == ["ADD", "DELETE", "UPDATE"])
    }

    @Test func rowsThatOthersMayHaveAreDeletedAlsoByALateReader() throws {
        let rows = SubscriptionProperties.portfolio
        let harness = HubHarness.with("s", rows)
        let first = try harness.open(.subscription("s"))
        harness.deliver(rows.update(["a", "ADD", "1"]))
        let id = try #require(try first.events.last?.id)
        harness.deliver(rows.update(["k", "ADD", "1"]))
        let request = StreamRequest(sources: [.subscription("s")]).resuming(id)
        let stream = try harness.open(request, visits: false)
        // The client of the stream accepts no more than the first event.
        stream.limit = 1
        stream.visitOnce(harness.now)
        stream.isBlocked = true
        harness.deliver(rows.update(["k", "DELETE", nil]))
        for number in 2..<100 { harness.deliver(rows.update(["a", "UPDATE", "\(number)"], changed: [2, 3])) }
        stream.limit = 256 << 10
        harness.unblock(stream)
        let updates = try stream.events.filter { $0.name == "update" }
        #expect(updates.map { $0["key"] } == ["k", "a"])
        #expect(updates.map { $0["command"] } == ["DELETE", "UPDATE"])
    }

    @Test func aSourceThatIsAddedStartsWithoutValuesAndTheOthersKeepTheirs() throws {
        let harness = makeHarness()
        harness.subscribe("t")
        let stream = try harness.open(.subscription("s"))
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("t")], remove: [])
        harness.pass()
        let change = try #require(try stream.events.last { $0.name == "stream" })
        #expect(change["resume"] == "resumed")
        #expect(change["sources"]?.array?.map { $0["subscription"] } == ["s", "t"])
    }

    @Test func severalSourcesResumeByOneNumber() throws {
        let harness = makeHarness()
        harness.addSubscription("t")
        let request = StreamRequest(sources: [.subscription("s"), .subscription("t")])
        let first = try harness.open(request)
        for number in 0..<10 {
            harness.publish(quotes.update(["\(number)", "", ""]), to: number % 3 == 0 ? "t" : "s")
        }
        harness.pass()
        let all = try first.events.dropFirst().compactMap(\.id)
        for (index, id) in all.enumerated().dropFirst(2) {
            let again = try harness.open(request.resuming(id))
            #expect(try again.events.dropFirst().compactMap(\.id) == Array(all[(index + 1)...]))
        }
    }

    @Test func lastEventsOfSubscriptionsThatWentAreResumed() throws {
        let harness = makeHarness()
        let group = StreamSource.client("c", withSubscriptions: true)
        let first = try harness.open(group) { $0.conflates = false }
        harness.deliver(quotes.update(["7", "", ""]))
        let last = try first.events.last?.id
        harness.publish(.unsubscribed(isFinal: true))
        harness.hub.take(.subscription("s", .removed))
        harness.pass()
        let again = try harness.open(group) { $0.lastEventID = last }
        #expect(try first.names.last == "unsubscribed")
        #expect(try again.names == ["unsubscribed"])
    }

    /// The subscription is a source of its own as well, or has had a reader in another format since.
    @Test(arguments: [false, true])
    func lastEventsOfAReleasedSubscriptionAreResumedOnce(isSource: Bool) throws {
        let harness = makeHarness()
        var request = StreamRequest(sources: [.client("c", withSubscriptions: true)])
        if isSource { request.sources.append(.subscription("s")) }
        let first = try harness.open(request)
        harness.deliver(quotes.update(["7", "", ""]))
        let last = try #require(try first.events.last?.id)
        harness.publish(.unsubscribed(isFinal: true))
        harness.hub.take(.subscription("s", .carried(by: nil)))
        if !isSource { harness.close(try harness.open(.subscription("s")) { $0.format = .ndjson }) }
        #expect(try harness.open(request.resuming(last)).names == ["unsubscribed"])
    }

    /// The reader was interrupted in the last events, and the subscription is in the sources again.
    @Test func lastEventsOfAReleasedSubscriptionPrecedeThoseOfItsReturn() throws {
        let harness = makeHarness()
        let request = StreamRequest(sources: [.client("c", withSubscriptions: true)])
        harness.close(try harness.open(request))
        let last = harness.hub.lastID.text
        for number in ["7", "8"] { harness.publish(quotes.update([number, "", ""])) }
        harness.publish(.unsubscribed(isFinal: true))
        harness.hub.take(.subscription("s", .carried(by: nil)))
        let second = try harness.open(request.resuming(last))
        #expect(try second.events.first?["sources"]?.array?.map { $0["subscription"] } == [nil])
        #expect(try second.names == ["update", "update", "unsubscribed"])
        let interrupted = try #require(try second.events.dropFirst().first?.id)
        harness.hub.take(.subscription("s", .carried(by: "c")))
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["9", "", ""], snapshot: true))
        let third = try harness.open(request.resuming(interrupted))
        #expect(try third.events.first?["sources"]?.array?.map { $0["subscription"] } == [nil, "s"])
        #expect(try third.names == ["update", "unsubscribed", "subscribed", "update"])
    }

    /// Another client carries the subscription since, and its events fill the window.
    @Test func lastEventsOfAReleasedSubscriptionEndWithItsRelease() throws {
        let harness = makeHarness { $0.replayEvents = 8 }
        harness.hub.take(.client("d", .added(.connectedWSStreaming)))
        let request = StreamRequest(sources: [.client("c", withSubscriptions: true)])
        let first = try harness.open(request)
        harness.deliver(quotes.update(["7", "", ""]))
        let last = try #require(try first.events.last?.id)
        harness.publish(quotes.update(["8", "", ""]))
        harness.hub.take(.subscription("s", .carried(by: "d")))
        harness.publish(quotes.update(["9", "", ""]))
        let again = try harness.open(request.resuming(last))
        #expect(try outcome(again) == "resumed")
        #expect(try again.events.compactMap { $0["fields"]?["x"]?.string } == ["8"])
        let end = try #require(try again.events.last?.id)
        for number in 0..<100 { harness.publish(quotes.update(["\(number)", "", ""])) }
        #expect(try outcome(harness.open(request.resuming(end))) == "resumed")
        #expect(try outcome(harness.open(request.resuming(last))) == "gap")
    }

    @Test(arguments: [(16, "resumed"), (17, "gap")])
    func moreReleasedSubscriptionsThanAreKeptMakeAGap(count: Int, expected: String) throws {
        let harness = HubHarness()
        let ids = (0..<count).map { SubscriptionID("s\($0)") }
        for id in ids {
            harness.subscribe(id)
        }
        let request = StreamRequest(sources: [.client("c", withSubscriptions: true)])
        let first = try harness.open(request)
        harness.deliver(quotes.update(["7", "", ""]), to: ids[0])
        let last = try #require(try first.events.last?.id)
        for id in ids {
            harness.publish(.unsubscribed(isFinal: true), to: id)
            harness.hub.take(.subscription(id, .removed))
        }
        let again = try harness.open(request.resuming(last))
        #expect(try outcome(again) == expected)
        #expect(try again.names.count == (expected == "gap" ? 0 : count))
    }
}

extension StreamRequest {
    fileprivate func resuming(_ id: String) -> StreamRequest {
        var request = self
        request.lastEventID = id
        return request
    }
}

/// Updates of rows with rising numbers, and messages, of three subscriptions.
private struct CountingFeed {
    static let subscriptions: [(SubscriptionID, SubscriptionProperties)] = [
        ("quotes", .quotes), ("rows", .portfolio), ("chat", .chat),
    ]
    private var generator: SeededGenerator
    private var number = 0
    /// The numbers of the present rows.
    private(set) var rows: [String: Int] = [:]
    private(set) var messages: [Int] = []

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func publish(to harness: HubHarness) {
        number += 1
        let row = Int.random(in: 1...2, using: &generator)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0:
            messages.append(number)
            harness.publish(SubscriptionProperties.chat.update(["\(number)"]), to: "chat")
        case 1..<10:
            rows["quotes \(row)"] = number
            harness.publish(SubscriptionProperties.quotes.update(["\(number)", "", ""], item: row), to: "quotes")
        default:
            let (name, key) = ("rows k\(row)", "k\(row)")
            let isDeletion = rows[name] != nil && Int.random(in: 0..<4, using: &generator) == 0
            let command = rows[name] == nil ? "ADD" : isDeletion ? "DELETE" : "UPDATE"
            rows[name] = isDeletion ? nil : number
            let values = [key, command, isDeletion ? nil : "\(number)"]
            harness.publish(SubscriptionProperties.portfolio.update(values), to: "rows")
        }
    }
}

/// What a reader of such events has.
private struct CountedRows {
    private(set) var rows: [String: Int] = [:]
    private(set) var messages: [Int] = []
    private(set) var faults: [String] = []

    mutating func read(_ event: TestStream.Event) throws {
        guard event.name == "update", let subscription = event["subscription"]?.string else { return }
        switch subscription {
        case "chat":
            let text = try #require(event["fields"]?["text"]?.string)
            messages.append(try #require(Int(text)))
        case "quotes":
            let text = try #require(event["fields"]?["x"]?.string)
            let item = try #require(event["item"]?.string)
            update("quotes \(item == "a" ? 1 : 2)", to: try #require(Int(text)))
        default:
            let name = "rows " + (try #require(event["key"]?.string))
            guard let text = event["fields"]?["qty"]?.string else { return rows[name] = nil }
            if rows[name] == nil, event["command"] != "ADD" { faults.append("\(name) has returned") }
            update(name, to: try #require(Int(text)))
        }
    }

    private mutating func update(_ row: String, to number: Int) {
        if let present = rows[row], number < present { faults.append("\(row): \(number) after \(present)") }
        rows[row] = number
    }
}
