internal import Changes
internal import SessionCore
internal import Testing

@testable import EventHub

/// The memory budgets of streams and logs.
@Suite struct StreamMemoryTests {
    private let rows = SubscriptionProperties.portfolio
    private let quotes = SubscriptionProperties.quotes

    private func harness(
        memory: Int = 0,
        perOwner: Int = 0,
        _ change: (inout HubConfiguration) -> Void = { _ in }
    ) -> HubHarness {
        HubHarness { configuration in
            (configuration.memoryBytes, configuration.ownerMemoryBytes) = (memory, perOwner)
            change(&configuration)
        }
    }

    /// Streams that read nothing, one of each subscription, each with this number of unread rows.
    private func blocked(_ harness: HubHarness, rows counts: [Int], owner: (Int) -> String) throws -> [TestStream] {
        let streams = try counts.indices.map { index in
            let id = SubscriptionID("s\(index)")
            harness.addSubscription(id, rows)
            let stream = try harness.open(.subscription(id)) { $0.owner = owner(index) }
            stream.isBlocked = true
            return stream
        }
        for row in 0..<(counts.max() ?? 0) {
            for (index, count) in counts.enumerated() where row < count {
                harness.publish(rows.update(["k\(row)", "ADD", "0"]), to: SubscriptionID("s\(index)"))
            }
            harness.pass()
        }
        return streams
    }

    private func closeReasons(_ streams: [TestStream], _ harness: HubHarness) throws -> [String?] {
        for stream in streams {
            harness.unblock(stream)
        }
        return try streams.map { try $0.events.last { $0.name == "closing" }?["reason"]?.string }
    }

    /// As those of streams that a member of a cluster inherits.
    @Test func sourcesBeyondTheirLimitTakeNoRoomOfEvents() {
        let memory = StreamMemory(limit: 8 * StreamMemory.sourceWeight)
        memory.addSources(100)
        memory.addLog(4 * StreamMemory.sourceWeight)
        #expect(memory.total == 104 * StreamMemory.sourceWeight)
        #expect(!memory.isExceeded && memory.used == memory.limit)
        memory.addLog(1)
        #expect(memory.isExceeded)
        memory.addSources(-100)
        #expect(memory.used == 4 * StreamMemory.sourceWeight + 1)
    }

    @Test func theSlowestReadersAreClosedWhenTheBudgetIsUsedUp() throws {
        let harness = harness(memory: 600_000) {
            $0.replayEvents = 16
            $0.replayBytes = 1024
        }
        let streams = try blocked(harness, rows: [100, 3_000, 200]) { "owner\($0)" }
        #expect(harness.hub.memory.used <= 600_000)
        #expect(try closeReasons(streams, harness) == [nil, "slow-reader", nil])
        #expect(harness.hub.metrics.slowReaders.count == 1)
        for stream in streams { harness.close(stream) }
        #expect(harness.hub.memory.pending == 0)
    }

    @Test func readersWithinTheirShareStayWhateverExceedsTheBudget() throws {
        let harness = harness(memory: 400_000) { $0.replayBytes = 1 << 30 }
        for id: SubscriptionID in ["large", "small"] { harness.addSubscription(id, quotes) }
        let streams = try [SubscriptionID("large"), "small"].map { try harness.open(.subscription($0)) }
        for number in 0..<5_000 { harness.publish(quotes.update(["\(number)", "", ""]), to: "large") }
        harness.deliver(quotes.update(["1", "", ""]), to: "small")
        #expect(try closeReasons(streams, harness) == ["slow-reader", nil])
    }

    @Test func theOnlyReaderStaysWithinTheBudgetWhileATableIsSentForTheFirstTime() throws {
        let harness = harness(memory: 400_000) {
            $0.replayEvents = 16
            $0.replayBytes = 1024
        }
        harness.addSubscription("s", rows)
        let stream = try harness.open(.subscription("s"))
        stream.isBlocked = true
        // The log has rows twice, as values and as bytes: the memory is more than the weight of the unread events.
        var number = 0
        while number < 3_000, harness.hub.memory.used < 500_000 {
            harness.deliver(rows.update(["k\(number)", "ADD", "0"], snapshot: true))
            number += 1
        }
        #expect(harness.hub.memory.used <= 400_000)
        #expect(try closeReasons([stream], harness) == ["slow-reader"])
    }

    @Test func theSlowestReaderOfAnOwnerIsClosedWhenItsBudgetIsUsedUp() throws {
        let harness = harness(perOwner: 200_000)
        let streams = try blocked(harness, rows: [700, 600, 700, 1]) { $0 < 2 ? "greedy" : "modest" }
        let reasons = try closeReasons(streams, harness)
        #expect(reasons.prefix(2).count { $0 == "slow-reader" } == 1)
        #expect(reasons.suffix(2) == [nil, nil])
    }

    @Test func aStreamThatIsEndingGivesUpItsUnreadEventsAsWell() throws {
        let harness = harness(perOwner: 200_000)
        func blocked(_ id: SubscriptionID) throws -> TestStream {
            harness.addSubscription(id, rows)
            let stream = try harness.open(.subscription(id)) { $0.owner = "greedy" }
            stream.isBlocked = true
            for row in 0..<600 {
                harness.deliver(rows.update(["k\(row)", "ADD", "0"]), to: id)
            }
            return stream
        }
        let ending = try blocked("s0")
        harness.hub.close(stream: ending.subscriber.id, reason: "deleted")
        harness.pass()
        let other = try blocked("s1")
        #expect(try closeReasons([ending, other], harness) == ["deleted", nil])
        #expect(try ending.names == ["closing"])
    }

    @Test func readersThatKeepUpUseNoBudgetOfTheirOwn() throws {
        let harness = harness()
        harness.addSubscription("s", quotes)
        let streams = try (0..<10).map { _ in try harness.open(.subscription("s")) }
        for number in 0..<100 {
            harness.deliver(quotes.update(["\(number)", "", ""]))
        }
        #expect(harness.hub.memory.pending == 0)
        #expect(streams.allSatisfy { $0.subscriber.charged == 0 })
    }

    @Test func blockedReadersOfMessagesUseTheMemoryOfTheirWindowHoweverManyEventsFollow() throws {
        let (window, readers) = (100, 10)
        let harness = harness { $0.windowEvents = window }
        let chat = SubscriptionProperties.chat
        harness.addSubscription("s", chat)
        for _ in 0..<readers { try harness.open(.subscription("s")).isBlocked = true }
        let message = chat.update([String(repeating: "x", count: 40)])
        var peaks: [Int] = []
        for _ in 0..<8 {
            var peak = 0
            for _ in 0..<1_000 {
                harness.deliver(message)
                peak = max(peak, harness.hub.memory.pending)
            }
            peaks.append(peak)
        }
        // The window and the count of the lost ones, and at most as many emptied entries.
        let entry = HubEvent.subscription(message).weight + MemoryLayout<PendingEntry>.stride
        #expect(peaks.allSatisfy { $0 <= readers * (window + 1) * entry }, "\(peaks)")
    }

    /// Several readers at the same place share the conflated updates.
    @Test(arguments: [1, 3]) func conflatedUpdatesCountWithTheirNewestValues(readers: Int) throws {
        let harness = harness()
        harness.addSubscription("s", quotes)
        let streams = try (0..<readers).map { _ in try harness.open(.subscription("s")) }
        for stream in streams { stream.isBlocked = true }
        func publish(_ length: Int) {
            let text = String(repeating: "x", count: length)
            for number in 0..<200 {
                harness.deliver(quotes.update(["\(number)", text, ""]))
            }
        }
        publish(10)
        #expect(harness.hub.memory.pending < readers * 1_000)
        publish(10_000)
        #expect(harness.hub.memory.pending > readers * 10_000)
        publish(10)
        #expect(harness.hub.memory.pending < readers * 1_000)
        for stream in streams { harness.close(stream) }
        #expect(harness.hub.memory.pending == 0)
    }

    /// Each change of the sources of a stream adds an event with all of them.
    @Test func unreadStreamEventsCountWithTheirSources() throws {
        let harness = harness()
        let ids = (0..<100).map { SubscriptionID("s\($0)") }
        for id in ids { harness.addSubscription(id) }
        let stream = try harness.open(StreamRequest(sources: ids.map { .subscription($0) }))
        stream.isBlocked = true
        #expect(harness.hub.memory.pending == 0)
        for _ in 0..<10 {
            try harness.hub.change(stream: stream.subscriber.id, add: [], remove: [])
            harness.pass()
        }
        #expect(harness.hub.memory.pending > 10 * ids.count * 100)
        harness.unblock(stream)
        #expect(harness.hub.memory.pending == 0)
        #expect(try stream.events.count == 11)
    }

    @Test func aLargeEventMakesNoLaterSegmentLarge() throws {
        let harness = harness()
        harness.addSubscription("s", quotes)
        let stream = try harness.open(.subscription("s"))
        harness.deliver(quotes.update([String(repeating: "x", count: 4 << 20), "", ""]))
        let before = harness.hub.memory.logs
        // Another context of the events that follow.
        harness.hub.take(.client("d", .added(.connectedWSStreaming)))
        harness.hub.take(.subscription("s", .carried(by: "d")))
        #expect(harness.hub.memory.logs < before + (1 << 20))
        harness.deliver(quotes.update(["1", "", ""]))
        #expect(try stream.names == ["update", "update"])
    }

    @Test func wideRowsCountTowardsTheWindowHoweverFewFieldsChange() throws {
        let harness = harness { $0.replayBytes = 100_000 }
        let names = (0..<1_000).map { "f\($0)" }
        let wide = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(names))
        harness.addSubscription("s", wide)
        let stream = try harness.open(.subscription("s"))
        var values = [String?](repeating: nil, count: names.count)
        for number in 0..<300 {
            values[0] = "\(number)"
            harness.deliver(wide.update(values, changed: [1]))
        }
        #expect(harness.hub.memory.logs < 700_000)
        let ids = try stream.events.compactMap(\.id)
        harness.close(stream)
        let outcomes = try [ids[100], ids[ids.count - 3]].map { id in
            try harness.open(.subscription("s")) { $0.lastEventID = id }.events.first?["resume"]?.string
        }
        #expect(outcomes == ["gap", "resumed"])
    }

    @Test func theOldestWindowsAreDroppedFirst() throws {
        let harness = harness(memory: 400_000) { $0.replayBytes = 1 << 30 }
        let names = (0..<4).map { SubscriptionID("s\($0)") }
        var ids: [SubscriptionID: String] = [:]
        for name in names {
            harness.addSubscription(name, quotes)
            let stream = try harness.open(.subscription(name))
            for number in 0..<300 {
                harness.deliver(quotes.update(["\(number)", "", ""]), to: name)
                if number == 290 { ids[name] = try stream.events.last?.id }
            }
            harness.close(stream)
            harness.advance(.seconds(1))
        }
        #expect(harness.hub.memory.used <= 400_000)
        let outcomes = try names.map { name in
            try harness.open(.subscription(name)) { $0.lastEventID = ids[name] }.events.first?["resume"]?.string
        }
        #expect(outcomes.first == "gap")
        #expect(outcomes.last == "resumed")
    }

    @Test func topicsThatNeverHadAStreamKeepNoLargeWindow() {
        let harness = harness()
        harness.addSubscription("s", quotes)
        for number in 0..<5_000 { harness.publish(quotes.update(["\(number)", "", ""])) }
        #expect(harness.hub.memory.logs < 2_500)
    }

    @Test func closedStreamsAndForgottenTopicsReturnTheirMemory() throws {
        let harness = harness()
        harness.hub.take(.client("c", .added(.connectedWSStreaming)))
        let before = harness.hub.memory.used
        harness.hub.take(.subscription("s", .added(rows)))
        let stream = try harness.open(.subscription("s"))
        stream.isBlocked = true
        for number in 0..<500 {
            harness.deliver(rows.update(["k\(number)", "ADD", "0"]))
        }
        #expect(harness.hub.memory.pending > 50_000)
        harness.hub.take(.subscription("s", .removed))
        harness.pass()
        harness.unblock(stream)
        harness.close(stream)
        #expect(harness.hub.memory.used <= before + 8_000)
    }
}
