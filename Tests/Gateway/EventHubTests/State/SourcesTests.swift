internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

@Suite struct SourcesTests {
    private let quotes = SubscriptionProperties.quotes

    @Test func clientSourceHasOnlyEventsOfItsClient() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.client("c", withSubscriptions: false))
        harness.publish(quotes.subscribed)
        harness.hub.take(.client("c", .event(.message(id: "m", .discarded))))
        harness.hub.take(.client("c", .event(.legacy(.connectionEstablished))))
        harness.pass()
        #expect(try stream.names == ["message-outcome"])
        #expect(try stream.events[0]["sources"] == [["client": "c", "status": "CONNECTED:WS-STREAMING"]])
    }

    @Test func eventsOfAllSubscriptionsOfAClientKeepTheirOrder() throws {
        let harness = HubHarness.with("s")
        let stream = try harness.open(.client("c", withSubscriptions: true)) { $0.conflates = false }
        harness.publish(quotes.subscribed)
        harness.hub.take(.client("c", .event(.property(name: "user", value: "me"))))
        harness.subscribe("t")
        harness.publish(quotes.update([nil, nil, nil], changed: []), to: "s")
        harness.hub.take(.client("c", .event(.status(.stalled))))
        harness.deliver(.unsubscribed(isFinal: false), to: "t")
        let told = try stream.events.dropFirst().map { "\($0.name) \($0["subscription"]?.string ?? "-")" }
        #expect(told == ["subscribed s", "property -", "subscribed t", "update s", "status -", "unsubscribed t"])
        #expect(try stream.events[4]["fields"] == [:])
    }

    @Test func subscriptionsOfAClientKeepTheOrderInWhichTheyWereAdded() throws {
        let harness = HubHarness()
        for id in ["s", "t", "u", "v"] { harness.addSubscription(SubscriptionID(id)) }
        harness.hub.take(.subscription("t", .removed))
        harness.hub.take(.subscription("s", .carried(by: nil)))
        harness.hub.take(.subscription("s", .carried(by: "c")))
        let stream = try harness.open(.client("c", withSubscriptions: true))
        let sources = try stream.events[0]["sources"]?.array ?? []
        #expect(sources.compactMap { $0["subscription"]?.string } == ["u", "v", "s"])
    }

    /// The subscriptions leave the client, some come back, and all events until then are delivered.
    @Test func manySubscriptionsLeaveAClientInAnyOrder() throws {
        let harness = HubHarness()
        let ids = (0..<2_000).map { SubscriptionID("s\($0)") }
        for id in ids { harness.addSubscription(id) }
        let stream = try harness.open(.client("c", withSubscriptions: true)) { $0.conflates = false }
        for id in ids { harness.publish(quotes.subscribed, to: id) }
        for id in ids.reversed() { harness.hub.take(.subscription(id, .carried(by: nil))) }
        for id in ids[..<10] {
            harness.hub.take(.subscription(id, .carried(by: "c")))
            harness.hub.take(.subscription(id, .carried(by: nil)))
            harness.hub.take(.subscription(id, .carried(by: "c")))
        }
        harness.pass()
        let before = try stream.events.count
        #expect(before == 1 + ids.count)
        for id in ids { harness.publish(quotes.update(["1", nil, nil]), to: id) }
        harness.pass()
        let events = try stream.events.dropFirst(before)
        #expect(events.compactMap { $0["subscription"]?.string } == ids[..<10].map(\.rawValue))
    }

    /// The client has fewer subscriptions than the stream has sources, or more.
    @Test(arguments: [0, 5])
    func theConnectionOfAClientIsReadAsLongAsTheClientCarriesASource(others: Int) throws {
        let harness = HubHarness()
        for id in ["s", "t"] + (0..<others).map({ "x\($0)" }) { harness.addSubscription(SubscriptionID(id)) }
        harness.hub.take(.client("d", .added(.connectedWSStreaming)))
        let stream = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        let group = try harness.open(.client("d", withSubscriptions: true))
        func told() throws -> [String] {
            let before = try stream.events.count
            harness.hub.take(.client("c", .event(.status(.stalled))))
            harness.hub.take(.client("d", .event(.status(.stalled))))
            harness.deliver(quotes.subscribed, to: "s")
            return try stream.events.dropFirst(before).map { event in
                event.name == "status" ? event["client"]?.string ?? "-" : event.name
            }
        }
        #expect(try told() == ["c", "subscribed"])
        harness.hub.take(.subscription("s", .carried(by: "d")))
        #expect(try told() == ["c", "d", "subscribed"])
        harness.hub.take(.subscription("t", .removed))
        #expect(try told() == ["d", "subscribed"])
        harness.hub.take(.subscription("s", .carried(by: nil)))
        harness.pass()
        #expect(try told() == ["subscribed"])
        // Its own status, and the subscription while the client carries it.
        #expect(try group.names == ["status", "status", "subscribed", "status", "subscribed", "status"])
    }

    /// Another stream reads the client further.
    @Test(arguments: [false, true])
    func aClientThatNoLongerCarriesTheSourceIsReadUpToThatPoint(isBlocked: Bool) throws {
        let harness = HubHarness.with("s")
        harness.hub.take(.client("d", .added(.connectedWSStreaming)))
        let stream = try harness.open(.subscription("s"))
        let other = try harness.open(.client("c", withSubscriptions: false))
        if isBlocked { stream.isBlocked = true }
        func report(_ status: ClientStatus) {
            harness.hub.take(.client("c", .event(.status(status))))
            if isBlocked { harness.pass() }
        }
        report(.stalled)
        harness.hub.take(.subscription("s", .carried(by: "d")))
        report(.connectedWSStreaming)
        harness.hub.take(.subscription("s", .carried(by: "c")))
        report(.disconnectedWillRetry)
        harness.pass()
        harness.unblock(stream)
        #expect(try stream.events.compactMap { $0["status"]?.string } == ["STALLED", "DISCONNECTED:WILL-RETRY"])
        #expect(try other.names == ["status", "status", "status"])
    }

    @Test func changedPropertiesNameItemsAndFieldsOfLaterEvents() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        harness.publish(.failed(code: 23, message: "bad schema"))
        harness.hub.take(.subscription("s", .carried(by: nil)))
        var other = quotes
        other.items = .list(["other"])
        other.fields = .list(["a", "b", "c"])
        harness.hub.take(.subscription("s", .propertiesChanged(other)))
        harness.hub.take(.subscription("s", .carried(by: "c")))
        harness.publish(other.subscribed)
        harness.deliver(other.update(["1", "2", "3"], snapshot: true))
        let update = try #require(try stream.events.last)
        #expect(update["item"] == "other")
        #expect(update["fields"] == ["a": "1", "b": "2", "c": "3"])
        let late = try harness.open(.subscription("s"))
        harness.pass()
        #expect(try late.events[1]["fields"] == ["a": "1", "b": "2", "c": "3"])
    }

    @Test func propertiesChangedWhileCarriedKeepTheValues() throws {
        let harness = HubHarness.with()
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["1", "2", "3"], snapshot: true))
        var other = quotes
        other.requestedMaxFrequency = .limited(2)
        harness.hub.take(.subscription("s", .propertiesChanged(other)))
        let stream = try harness.open(.subscription("s"))
        harness.pass()
        #expect(try stream.events[1]["fields"] == ["x": "1", "y": "2", "z": "3"])
    }

    @Test func unsubscribedIsTheLastEventOfWhatIsRemovedAndTheStreamCloses() throws {
        let harness = HubHarness.with()
        let stream = try harness.open(.subscription("s"))
        harness.publish(quotes.subscribed)
        harness.publish(.unsubscribed(isFinal: false))
        harness.hub.take(.subscription("s", .removed))
        harness.deliver(quotes.subscribed)
        #expect(try stream.names == ["subscribed", "unsubscribed", "closing"])
        #expect(try stream.events.last?["reason"] == "deleted")
        #expect(stream.isFinished)
    }

    @Test func streamWithOtherSourcesContinues() throws {
        let harness = HubHarness.with("s")
        harness.addSubscription("t")
        let stream = try harness.open(StreamRequest(sources: [.subscription("s"), .subscription("t")]))
        harness.publish(.unsubscribed(isFinal: false), to: "s")
        harness.hub.take(.subscription("s", .removed))
        harness.deliver(quotes.subscribed, to: "t")
        #expect(try stream.names == ["unsubscribed", "subscribed"])
        #expect(!stream.isFinished)
    }

    @Test func deletedClientDeliversPendingEventsAndCloses() throws {
        let harness = HubHarness.with()
        let own = try harness.open(.client("c", withSubscriptions: true))
        let other = try harness.open(.subscription("s"))
        harness.hub.take(.client("c", .event(.status(.disconnected))))
        harness.publish(.unsubscribed(isFinal: false))
        harness.hub.take(.subscription("s", .removed))
        harness.hub.take(.client("c", .removed))
        harness.pass()
        #expect(try own.names == ["status", "unsubscribed", "closing"])
        #expect(try other.names == ["status", "unsubscribed", "closing"])
    }

    private func join(_ harness: HubHarness, _ sources: [StreamSource]) throws -> TestStream {
        var request = StreamRequest(sources: sources)
        request.joined = ["s"]
        return try harness.open(request)
    }

    @Test func aStreamWhoseOnlySourceIsRefusedEndsAfterTheError() throws {
        let harness = HubHarness.with("s")
        harness.addSubscription("t")
        let joined = try join(harness, [.subscription("s")])
        let both = try join(harness, [.subscription("s"), .subscription("t")])
        let resource = try harness.open(.subscription("s"))
        harness.deliver(.failed(code: 17, message: "no"))
        #expect(try joined.names == ["subscription-error", "closing"])
        #expect(try joined.events.last?["reason"] == "refused")
        #expect(joined.isFinished)
        #expect(try both.names == ["subscription-error"])
        #expect(try resource.names == ["subscription-error"])
        // A stream that is opened after the refusal of its subscription.
        #expect(try join(harness, [.subscription("s")]).names == ["closing"])
    }

    @Test func aRemovalIsToldByAnErrorAndTheEndOfTheSubscription() throws {
        let harness = HubHarness.with("s")
        let joined = try join(harness, [.subscription("s")])
        harness.publish(quotes.subscribed)
        harness.publish(.failed(code: 61, message: "Removed by the server"))
        harness.deliver(.unsubscribed(isFinal: true))
        #expect(try joined.names == ["subscribed", "subscription-error", "unsubscribed", "closing"])
    }

    @Test func aSubscriptionIsReadByStreamsOfItsOwnAndOfItsClientWithSubscriptions() throws {
        let harness = HubHarness.with("s")
        let other = try harness.open(.client("c", withSubscriptions: false))
        #expect(harness.hub.lastRead(subscription: "s") != .never && harness.hub.lastRead(subscription: "x") != .never)
        for source in [StreamSource.subscription("s"), .client("c", withSubscriptions: true)] {
            let stream = try harness.open(source)
            #expect(harness.hub.lastRead(subscription: "s") == .never)
            harness.close(stream)
            #expect(harness.hub.lastRead(subscription: "s") != .never)
        }
        harness.close(other)
    }

    @Test func aChangedStreamReadsTheSubscriptionsOfAClientAsLongAsItFollowsTheClient() throws {
        let harness = HubHarness.with("s")
        let client = StreamSource.client("c", withSubscriptions: false)
        let following = StreamSource.client("c", withSubscriptions: true)
        let stream = try harness.open(client)
        let id = stream.subscriber.id
        for (add, remove, isRead) in [
            ([following], [], true), ([following], [client], true), ([client], [], true), ([], [following], false),
        ] as [([StreamSource], [StreamSource], Bool)] {
            try harness.hub.change(stream: id, add: add, remove: remove)
            #expect((harness.hub.lastRead(subscription: "s") == .never) == isRead)
        }
        try harness.hub.change(stream: id, add: [following], remove: [])
        harness.hub.take(.client("c", .removed))
        #expect(harness.hub.lastRead(subscription: "s") == nil)
    }

    @Test func theEndOfTheLastStreamOfASubscriptionIsKnown() throws {
        let harness = HubHarness.with("s")
        #expect(harness.hub.lastRead(subscription: "s") == nil)
        for source in [StreamSource.subscription("s"), .client("c", withSubscriptions: true)] {
            let (first, second) = (try harness.open(source), try harness.open(source))
            harness.close(first)
            #expect(harness.hub.lastRead(subscription: "s") == .never)
            harness.advance(.seconds(5))
            harness.close(second)
            let end = harness.now
            harness.advance(.seconds(5))
            #expect(harness.hub.lastRead(subscription: "s") == end)
        }
        let stream = try harness.open(.subscription("s"))
        harness.advance(.seconds(5))
        try harness.hub.change(stream: stream.subscriber.id, add: [], remove: [.subscription("s")])
        #expect(harness.hub.lastRead(subscription: "s") == harness.now)
        harness.hub.take(.subscription("s", .removed))
        #expect(harness.hub.lastRead(subscription: "s") == nil)
        // The client is still there, with the end of its own stream.
        harness.addSubscription("t")
        harness.hub.take(.client("c", .removed))
        #expect(harness.hub.lastRead(subscription: "t") == nil)
    }

    @Test func theEndOfTheLastStreamOfAClientIsKnown() throws {
        let harness = HubHarness.with("s")
        let topics: [TopicID] = [.client("c"), .subscription("s")]
        #expect(harness.hub.lastReads(of: topics).isEmpty)
        let stream = try harness.open(.client("c", withSubscriptions: false))
        #expect(harness.hub.lastReads(of: topics) == [.client("c"): .never])
        harness.close(stream)
        #expect(harness.hub.lastReads(of: topics) == [.client("c"): harness.now])
    }

    @Test func legacyEventsReachTheStreamsOfSubscriptions() throws {
        let harness = HubHarness.with("s")
        let plain = try harness.open(.subscription("s"))
        let legacy = try harness.open(.subscription("s")) { $0.includesLegacy = true }
        harness.hub.take(.client("c", .event(.legacy(.connectionEstablished))))
        harness.pass()
        #expect(try plain.names == [])
        #expect(try legacy.names == ["connection-established"])
    }

    @Test func sourcesOfALiveStreamChange() throws {
        let harness = HubHarness.with("s")
        harness.subscribe("t")
        harness.publish(quotes.update(["1", "2", "3"]), to: "t")
        let stream = try harness.open(.subscription("s"))
        harness.publish(quotes.subscribed, to: "s")
        try harness.hub.change(stream: stream.subscriber.id, add: [.subscription("t")], remove: [.subscription("s")])
        harness.publish(quotes.update(["4", "2", "3"]), to: "s")
        harness.deliver(quotes.update(["5", "2", "3"]), to: "t")
        let names = try stream.events.map(\.name)
        // Earlier events of the removed source are not delivered.
        #expect(names == ["stream", "stream", "update", "end-of-snapshot", "update"])
        let second = try stream.events[1]
        #expect(second["sources"]?.array?.map { $0["subscription"] } == ["t"])
        #expect(second["sources"]?.array?.map { $0["subscribed"] } == [true])
        #expect(try stream.events.dropFirst(2).allSatisfy { $0["subscription"] == "t" })
        let sequences = try stream.events.compactMap(\.sequence)
        #expect(sequences == sequences.sorted())
    }

    @Test func pendingEventsOfRemovedSourcesAreNotDelivered() throws {
        let harness = HubHarness()
        let ids: [SubscriptionID] = ["s", "t", "u"]
        for id in ids {
            harness.subscribe(id)
            harness.publish(quotes.update(["1", "2", "3"], snapshot: true), to: id)
        }
        let stream = try harness.open(StreamRequest(sources: ids.map { .subscription($0) }), visits: false)
        let others = ids.dropLast().map { StreamSource.subscription($0) }
        // A source that is added twice is one source.
        try harness.hub.change(stream: stream.subscriber.id, add: [others[0], others[0]], remove: others)
        #expect(harness.hub.stream(stream.subscriber.id)?.request.sources == [.subscription("u"), others[0]])
        try harness.hub.change(stream: stream.subscriber.id, add: [], remove: others)
        harness.pass()
        harness.visitAll()
        let events = try stream.events.filter { $0.name != "stream" }
        #expect(!events.isEmpty && events.allSatisfy { $0["subscription"] == "u" })
    }

    @Test func aChangeIsAllOrNothing() throws {
        let harness = HubHarness.with("s")
        let stream = try harness.open(.subscription("s"))
        let id = stream.subscriber.id
        #expect(throws: HubError.unknownSource(.subscription("x"))) {
            try harness.hub.change(stream: id, add: [.subscription("x")], remove: [.subscription("s")])
        }
        #expect(harness.hub.stream(id)?.request.sources == [.subscription("s")])
        #expect(throws: HubError.unknownStream("y")) { try harness.hub.change(stream: "y", add: [], remove: []) }
    }

    @Test func aStreamWithoutSourcesStaysOpen() throws {
        let harness = HubHarness.with("s")
        let stream = try harness.open(.subscription("s"))
        try harness.hub.change(stream: stream.subscriber.id, add: [], remove: [.subscription("s")])
        harness.deliver(quotes.subscribed, to: "s")
        #expect(try stream.events.map(\.name) == ["stream", "stream"])
        #expect(!stream.isFinished)
    }

    @Test func closingEventHasReasonAndEndsTheStream() throws {
        let harness = HubHarness.with("s")
        let stream = try harness.open(.subscription("s"))
        harness.publish(quotes.subscribed)
        #expect(harness.hub.close(stream: stream.subscriber.id, reason: "shutdown"))
        harness.deliver(quotes.update(["1", "2", "3"]))
        let names = try stream.names
        #expect(names == ["subscribed", "closing"])
        #expect(try stream.text.contains("retry: "))
        #expect(stream.isFinished)
        #expect(!harness.hub.close(stream: "x", reason: "shutdown"))
    }

    @Test func closedStreamsLeaveNothingBehind() throws {
        let harness = HubHarness.with("s")
        let stream = try harness.open(.subscription("s"))
        harness.publish(quotes.subscribed)
        harness.close(stream)
        harness.deliver(quotes.subscribed)
        #expect(harness.hub.streams().isEmpty)
        let idle = harness.hub.locked { $0.topics.subscriptions["s"]?.channel.interests.allSatisfy { $0 == nil } }
        #expect(idle == true)
    }
}
