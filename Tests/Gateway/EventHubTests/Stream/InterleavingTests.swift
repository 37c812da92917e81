internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Random events, read at random moments. The seed is part of the name of each case.
@Suite struct InterleavingTests {
    private static let seeds: [UInt64] = Array(1...8)

    private static func properties(_ seed: UInt64) -> SubscriptionProperties {
        seed % 2 == 0 ? .quotes : .portfolio
    }

    @Test(arguments: seeds)
    func everyReaderEndsWithTheSameTable(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var feed = RandomFeed(Self.properties(seed), seed: seed)
        let harness = HubHarness.with("s", feed.properties)
        let fast = try harness.open(.subscription("s")) { $0.conflates = false }
        let slow = try harness.open(.subscription("s"))
        slow.limit = 300
        let paced = try harness.open(.subscription("s")) { $0.maxFrequency = 5 }
        var joiners: [TestStream] = []
        for step in 0..<600 {
            harness.publish(feed.next())
            if Int.random(in: 0..<3, using: &generator) == 0 { harness.pass() }
            harness.advance(.milliseconds(10))
            if Int.random(in: 0..<100, using: &generator) == 0 { slow.isBlocked.toggle() }
            if step % 150 == 75 { joiners.append(try harness.open(.subscription("s"))) }
        }
        slow.isBlocked = false
        harness.pass()
        harness.advance(.seconds(60))
        harness.visitAll()
        let expected = TableReader(try fast.events)
        #expect(try fast.names.count == 600)
        for stream in [slow, paced] + joiners {
            #expect(TableReader(try stream.events).rows == expected.rows)
            let ids = try stream.events.compactMap(\.sequence)
            #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
        }
    }

    @Test(arguments: seeds)
    func resumingLosesAndRepeatsNothing(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var feeds: [SubscriptionID: RandomFeed] = [
            "s": RandomFeed(Self.properties(seed), seed: seed), "t": RandomFeed(.quotes, seed: seed &+ 99),
        ]
        let harness = HubHarness()
        for id: SubscriptionID in ["s", "t"] { harness.addSubscription(id, feeds[id]?.properties ?? .quotes) }
        var request = StreamRequest(sources: [.subscription("s"), .subscription("t")])
        request.conflates = false
        request.format = seed % 3 == 0 ? .ndjson : .serverSentEvents
        let steady = try harness.open(request)
        var restless = try harness.open(request)
        var told: [TestStream.Event] = []
        // One event for both: a stream without an event cannot resume.
        harness.hub.take(.client("c", .event(.status(.connecting))))
        harness.pass()
        for _ in 0..<300 {
            let id: SubscriptionID = Bool.random(using: &generator) ? "s" : "t"
            if let event = feeds[id]?.next() { harness.publish(event, to: id) }
            if Int.random(in: 0..<4, using: &generator) == 0 { harness.pass() }
            guard Int.random(in: 0..<20, using: &generator) == 0 else { continue }
            told += try restless.events.filter { $0.id != nil }
            harness.close(restless)
            if let last = told.last?.id { request.lastEventID = last }
            restless = try harness.open(request)
            #expect(try restless.events.first?["resume"]?.string == "resumed")
        }
        harness.pass()
        told += try restless.events.filter { $0.id != nil }
        let expected = try steady.events.filter { $0.id != nil }
        #expect(told.map(\.id) == expected.map(\.id))
        #expect(told.map(\.data) == expected.map(\.data))
    }

    @Test(arguments: seeds)
    func resumingAConflatedStreamLosesNothing(seed: UInt64) throws {
        var feed = RandomFeed(Self.properties(seed), seed: seed)
        let harness = HubHarness.with("s", feed.properties)
        let fast = try harness.open(.subscription("s")) { $0.conflates = false }
        let slow = try harness.open(.subscription("s"))
        slow.isBlocked = true
        for _ in 0..<300 {
            harness.deliver(feed.next())
        }
        slow.isBlocked = false
        slow.limit = 1
        // Disconnected after any number of events.
        let expected = TableReader(try fast.events)
        for _ in 0..<12 {
            let more = slow.visitOnce(harness.now)
            let read = try slow.events
            if let last = read.last?.id {
                let again = try harness.open(.subscription("s")) { $0.lastEventID = last }
                #expect(try again.events.first?["resume"] == "resumed")
                #expect(TableReader(try read + again.events).rows == expected.rows)
                harness.close(again)
            }
            if !more { break }
        }
    }

    @Test func aStreamThatOpensDoesNotLetOthersReadLaterEventsFirst() throws {
        let quotes = SubscriptionProperties.quotes
        let harness = HubHarness()
        for id: SubscriptionID in ["s", "t"] {
            harness.subscribe(id, quotes)
        }
        let stream = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        stream.isBlocked = true
        harness.deliver(quotes.update(["0", "", ""]), to: "t")
        harness.publish(quotes.update(["1", "", ""]), to: "s")
        harness.publish(quotes.update(["2", "", ""]), to: "t")
        let other = try harness.open(.subscription("t"))
        harness.unblock(stream)
        harness.pass()
        harness.deliver(quotes.update(["3", "", ""]), to: "t")
        #expect(try stream.events.compactMap { $0["fields"]?["x"]?.string } == ["0", "1", "2", "3"])
        #expect(try other.events.compactMap { $0["fields"]?["x"]?.string } == ["2", "3"])
    }

    @Test(arguments: seeds)
    func aJoinersTableIsTheStateAtThatMoment(seed: UInt64) throws {
        var feed = RandomFeed(Self.properties(seed), seed: seed)
        let harness = HubHarness.with("s", feed.properties)
        let fast = try harness.open(.subscription("s")) { $0.conflates = false }
        for _ in 0..<50 {
            harness.publish(feed.next())
            let joiner = try harness.open(.subscription("s"))
            harness.pass()
            #expect(TableReader(try joiner.events).rows == TableReader(try fast.events).rows)
            harness.close(joiner)
        }
    }
}
