internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct ConflationTests {
    private let quotes = SubscriptionProperties.quotes
    private let rows = SubscriptionProperties.portfolio
    private let chat = SubscriptionProperties.chat

    /// A stream whose reader reads nothing while the body publishes, pass after pass.
    private func blocked(
        _ harness: HubHarness,
        _ properties: SubscriptionProperties,
        change: (inout StreamRequest) -> Void = { _ in },
        _ publish: ((SubscriptionEvent) -> Void) -> Void
    ) throws -> TestStream {
        harness.addSubscription("s", properties)
        let stream = try harness.open(.subscription("s"), change)
        stream.isBlocked = true
        publish { event in
            harness.deliver(event)
        }
        harness.unblock(stream)
        return stream
    }

    @Test func aLateReaderGetsOneUpdateForEachItem() throws {
        let harness = HubHarness()
        let stream = try blocked(harness, quotes) { publish in
            publish(quotes.subscribed)
            for number in 0..<500 {
                publish(quotes.update(["\(number)", "-", "-"], item: number % 2 + 1, changed: [number % 3 + 1]))
            }
        }
        let updates = try stream.events.dropFirst(2)
        #expect(updates.count == 2)
        #expect(updates.map { $0["conflated"] } == [250, 250])
        #expect(updates.map { $0["fields"]?["x"] } == ["498", "499"])
        #expect(stream.subscriber.figures.conflated.count == 498)
        #expect(harness.hub.metrics.conflated.count == 498)
    }

    /// The fields that do not change take memory, and are not sent.
    @Test func aShortDelayConflatesNothingHoweverManyFieldsThereAre() throws {
        let names = (0..<2_000).map { "f\($0)" }
        let wide = SubscriptionProperties(mode: .merge, items: .list(["a"]), fields: .list(names))
        var values = [String?](repeating: nil, count: names.count)
        let stream = try blocked(HubHarness(), wide) { publish in
            for number in 0..<20 {
                values[0] = "\(number)"
                publish(wide.update(values, changed: [1]))
            }
        }
        let updates = try stream.events.filter { $0.name == "update" }
        #expect(updates.compactMap { $0["fields"]?["f0"]?.string } == (0..<20).map { String($0) })
    }

    @Test func aReaderOfAllConflatedEventsResumesAfterTheNewest() throws {
        let harness = HubHarness()
        let stream = try blocked(harness, quotes) { publish in
            publish(quotes.update(["a", "", ""], item: 1))
            publish(quotes.update(["b", "", ""], item: 2))
            for number in 0..<100 { publish(quotes.update(["\(number)", "", ""], item: 1)) }
        }
        #expect(try stream.events.compactMap(\.sequence) == [1, 102])
        let last = try stream.events.last?.id
        #expect(try harness.open(.subscription("s")) { $0.lastEventID = last }.names.isEmpty)
    }

    /// The reader resumes after the id of the last event that it has read: all earlier ones have to be before it.
    @Test func aLateReaderOfSeveralSourcesGetsTheirEventsInOrder() throws {
        let harness = HubHarness()
        for id: SubscriptionID in ["s", "t"] { harness.addSubscription(id, chat) }
        let stream = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        stream.isBlocked = true
        harness.deliver(chat.update(["first"]), to: "s")
        for number in 0..<100 {
            harness.publish(chat.update(["\(number)"]), to: "s")
            harness.publish(chat.update(["\(number)"]), to: "t")
        }
        harness.pass()
        harness.unblock(stream)
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids.count == 201)
        #expect(ids == ids.sorted())
    }

    @Test func aLittleLateIsNotConflated() throws {
        let stream = try blocked(HubHarness(), quotes) { publish in
            for number in 0..<20 { publish(quotes.update(["\(number)", "", ""])) }
        }
        #expect(try stream.names.count == 20)
        #expect(try stream.events.dropFirst().allSatisfy { $0["conflated"] == nil })
    }

    @Test func nothingIsConflatedAcrossWhatDividesTheStream() throws {
        let stream = try blocked(HubHarness(), quotes) { publish in
            for event in [quotes.subscribed, .endOfSnapshot(itemPos: 1), .clearSnapshot(itemPos: 1)] {
                for number in 0..<40 { publish(quotes.update(["\(number)", "", ""])) }
                publish(quotes.update(["b", "", ""], item: 2))
                publish(event)
            }
            publish(.unsubscribed(isFinal: false))
        }
        let told = try stream.events.dropFirst().map { event in
            event.name == "update"
                ? "\(event["item"]?.string ?? "") \(event["conflated"]?.number?.text ?? "1")" : event.name
        }
        #expect(
            told == [
                "a 40", "b 1", "subscribed", "a 40", "b 2", "end-of-snapshot", "a 40", "clear-snapshot", "unsubscribed",
            ]
        )
    }

    @Test func rowsAreConflatedByKey() throws {
        let stream = try blocked(HubHarness(), rows) { publish in
            publish(rows.update(["k", "ADD", "0"]))
            publish(rows.update(["l", "ADD", "0"]))
            for number in 1..<100 { publish(rows.update(["k", "UPDATE", "\(number)"], changed: [2, 3])) }
            publish(rows.update(["l", "DELETE", nil]))
            publish(rows.update(["m", "DELETE", nil]))
        }
        let updates = try stream.events.dropFirst()
        #expect(updates.map { $0["key"] } == ["k", "m"])
        #expect(updates.map { $0["command"] } == ["ADD", "DELETE"])
        #expect(updates.first?["fields"] == ["key": "k", "command": "UPDATE", "qty": "99"])
        #expect(stream.subscriber.figures.conflated.count == 101)
    }

    @Test func canonicallyEquivalentKeysAreNotConflated() throws {
        let keys = ["\u{E9}", "e\u{301}"]
        let stream = try blocked(HubHarness(), rows) { publish in
            for key in keys { publish(rows.update([key, "ADD", "0"])) }
            for number in 1..<100 {
                for key in keys { publish(rows.update([key, "UPDATE", "\(number)"], changed: [2, 3])) }
            }
        }
        let updates = try stream.events.dropFirst()
        #expect(updates.map { $0["key"] } == keys.map { .string($0) })
        #expect(updates.map { $0["conflated"] } == [100, 100])
    }

    @Test func rowAddedAgainAfterDeletionIsDeliveredTwice() throws {
        let harness = HubHarness.with("s", rows)
        harness.publish(rows.update(["k", "ADD", "0"]))
        let stream = try harness.open(.subscription("s"))
        stream.isBlocked = true
        for number in 1..<100 {
            harness.deliver(rows.update(["k", number % 2 == 0 ? "ADD" : "DELETE", "\(number)"]))
        }
        harness.deliver(rows.update(["k", "ADD", "100"]))
        harness.unblock(stream)
        let updates = try stream.events.dropFirst(2)
        #expect(updates.map { $0["command"] } == ["DELETE", "ADD"])
        #expect(updates.last?["fields"]?["qty"] == "100")
    }

    @Test func theOldestMessagesAreLostAndCounted() throws {
        let harness = HubHarness { $0.windowEvents = 10 }
        let stream = try blocked(harness, chat) { publish in
            for number in 0..<200 { publish(chat.update(["\(number)"])) }
        }
        let events = try stream.events.dropFirst()
        #expect(events.first?.name == "lost-updates")
        #expect(events.first?["count"] == 190)
        #expect(events.first?["by"] == "gateway")
        #expect(events.dropFirst().compactMap { $0["fields"]?["text"]?.string } == (190..<200).map(String.init))
        #expect(stream.subscriber.figures.dropped.count == 190)
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids == (190...200).map(UInt64.init))
    }

    @Test func aStreamThatDoesNotConflateGetsEverything() throws {
        let stream = try blocked(HubHarness(), quotes, change: { $0.conflates = false }) { publish in
            for number in 0..<2000 { publish(quotes.update(["\(number)", "", ""])) }
        }
        #expect(try stream.names.count == 2000)
        #expect(try stream.events.dropFirst().map(\.id) == (1...2000).map { "e1-\($0)" })
    }

    @Test func aFullWindowClosesAStreamThatDoesNotConflate() throws {
        let harness = HubHarness { $0.windowBytes = 100_000 }
        let stream = try blocked(harness, quotes, change: { $0.conflates = false }) { publish in
            for number in 0..<2000 { publish(quotes.update(["\(number)", "", ""])) }
        }
        #expect(try stream.names == ["closing"])
        #expect(try stream.events.last?["reason"] == "slow-reader")
        #expect(stream.isFinished)
        #expect(harness.hub.metrics.slowReaders.count == 1)
    }

    /// A reader of the snapshot would resume behind events that it has not received.
    @Test func noSnapshotFollowsTheEventsThatAFullWindowHasDropped() throws {
        let harness = HubHarness { $0.windowBytes = 10_000 }
        harness.addSubscription()
        harness.publish(quotes.subscribed)
        let stream = try harness.open(.subscription("s")) { $0.conflates = false }
        for number in 0..<200 { harness.publish(quotes.update(["\(number)", "", ""])) }
        let state = try #require(harness.hub.state(of: .subscription("s")))
        harness.hub.adopt(.subscription("s"), state.changes)
        harness.pass()
        #expect(try stream.names == ["closing"])
        #expect(try stream.events.last?["reason"] == "slow-reader")
    }

    @Test func aFrequencyLimitConflatesOnPurpose() throws {
        let harness = HubHarness.with("s", quotes)
        let stream = try harness.open(.subscription("s")) { $0.maxFrequency = 2 }
        harness.deliver(quotes.subscribed)
        for number in 0..<100 {
            harness.deliver(quotes.update(["\(number)", "", ""], item: number % 2 + 1, changed: [1]))
            harness.advance(.milliseconds(20))
            if let wakeAt = stream.wakeAt, wakeAt <= harness.now { harness.visitAll() }
        }
        harness.advance(.seconds(1))
        harness.visitAll()
        let updates = try stream.events.filter { $0.name == "update" }
        let counts = updates.map { Int($0["conflated"]?.number?.text ?? "1") ?? 0 }
        #expect((8...12).contains(updates.count))
        #expect(counts.reduce(0, +) == 100)
        #expect(Set(updates.suffix(2).map { $0["fields"]?["x"]?.string }) == ["98", "99"])
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids == Array(Set(ids)).sorted())
    }

    @Test func aFrequencyLimitDoesNotDelayOtherEvents() throws {
        let harness = HubHarness.with("s", quotes)
        let stream = try harness.open(.subscription("s")) { $0.maxFrequency = 0.001 }
        for number in 0..<3 { harness.publish(quotes.update(["\(number)", "", ""])) }
        harness.pass()
        harness.deliver(quotes.update(["9", "", ""]))
        #expect(try stream.names.count == 1)
        harness.hub.take(.client("c", .event(.status(.stalled))))
        harness.pass()
        #expect(try stream.names == ["update", "update", "status"])
    }

    @Test(arguments: [
        Change.client("c", .event(.bytesReceived(1))),
        .subscription("s", .event(.clearSnapshot(itemPos: 1))),
        .subscription("s", .event(.lostUpdates(count: 1, itemPos: 1))),
        .subscription("s", .event(.secondLevelLostUpdates(count: 1, key: "k0"))),
    ])
    func eventsThatComeOftenWaitForLimitedUpdates(event: Change) throws {
        let harness = HubHarness.with("s", rows)
        let stream = try harness.open(.subscription("s")) { request in
            request.maxFrequency = 0.001
            request.includesLegacy = true
        }
        for number in 0..<3 {
            harness.publish(rows.update(["k\(number)", "ADD", ""]))
            harness.hub.take(event)
            harness.pass()
        }
        #expect(try stream.names.filter { $0 == "update" }.count == 1)
        harness.advance(.seconds(1_000))
        harness.visitAll()
        let names = try stream.names
        #expect(names.count == 6 && names.indices.allSatisfy { (names[$0] == "update") == ($0 % 2 == 0) })
    }

    /// A stream of quotes and messages with a frequency limit.
    private func mixed(_ harness: HubHarness) throws -> TestStream {
        harness.addSubscription("s", quotes)
        harness.addSubscription("m", chat)
        var request = StreamRequest(sources: [.subscription("s"), .subscription("m")])
        request.maxFrequency = 2
        return try harness.open(request)
    }

    private func publish(_ number: Int, to ids: [SubscriptionID], of harness: HubHarness) {
        for id in ids {
            harness.publish(id == "m" ? chat.update(["\(number)"]) : quotes.update(["\(number)", "", ""]), to: id)
        }
        harness.pass()
    }

    @Test func aFrequencyLimitHoldsBesideUpdatesThatCannotBeConflated() throws {
        let harness = HubHarness()
        let stream = try mixed(harness)
        for number in 0..<100 {
            publish(number, to: ["s", "m"], of: harness)
            harness.advance(.milliseconds(20))
            if let wakeAt = stream.wakeAt, wakeAt <= harness.now { harness.visitAll() }
        }
        harness.advance(.seconds(1))
        harness.visitAll()
        let updates = try stream.events.filter { $0.name == "update" }
        let limited = updates.filter { $0["subscription"] == "s" }
        #expect((4...7).contains(limited.count) && limited.last?["fields"]?["x"] == "99")
        let messages = updates.filter { $0["subscription"] == "m" }
        #expect(messages.compactMap { $0["fields"]?["text"]?.string } == (0..<100).map(String.init))
        let ids = try stream.events.compactMap(\.sequence)
        #expect(ids == Array(Set(ids)).sorted())
    }

    @Test func updatesThatCannotBeConflatedWaitForLimitedOnesOnly() throws {
        let harness = HubHarness { $0.windowEvents = 10 }
        let stream = try mixed(harness)
        publish(0, to: ["s"], of: harness)
        publish(1, to: ["m"], of: harness)
        #expect(try stream.names.count == 2)
        publish(2, to: ["s", "m"], of: harness)
        #expect(try stream.names.count == 2)
        harness.advance(.milliseconds(500))
        harness.visitAll()
        #expect(try stream.names.count == 4)
        // None is lost because of the limit.
        publish(3, to: ["s"], of: harness)
        for number in 4..<20 { publish(number, to: ["m"], of: harness) }
        #expect(stream.subscriber.figures.dropped.count == 0)
        #expect(try stream.names.filter { $0 == "update" }.count == 21)
    }

    @Test func theFirstOfASnapshotMakesTheWholeOne() throws {
        let stream = try blocked(HubHarness(), quotes) { publish in
            publish(quotes.update(["0", "", ""], snapshot: true))
            for number in 1..<100 { publish(quotes.update(["\(number)", "", ""], changed: [1])) }
        }
        #expect(try stream.events.last?["snapshot"] == true)
        #expect(try stream.events.last?["conflated"] == 100)
    }
}
