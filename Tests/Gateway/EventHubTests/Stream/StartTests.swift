internal import Changes
internal import JSONText
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Streams of subscriptions that were opened for them.
@Suite struct StartTests {
    private let quotes = SubscriptionProperties.quotes

    /// Opens a stream of subscriptions, some of which were opened for it.
    private func open(
        _ ids: [SubscriptionID] = ["s"],
        opened: Set<SubscriptionID> = ["s"],
        lastEventID: String? = nil,
        in harness: HubHarness
    ) throws -> TestStream {
        var request = StreamRequest(sources: ids.map { .subscription($0) })
        request.opened = opened
        request.lastEventID = lastEventID
        return try harness.open(request)
    }

    /// A subscription on a new client, which is connected afterwards.
    private func start(_ id: SubscriptionID = "s", in harness: HubHarness) {
        harness.hub.take(.client("c", .added(.disconnected)))
        harness.hub.take(.subscription(id, .added(quotes)))
        harness.hub.take(.subscription(id, .carried(by: "c")))
    }

    private func connect(_ harness: HubHarness) {
        harness.hub.take(.client("c", .event(.status(.connecting))))
        harness.hub.take(.client("c", .event(.status(.connectedWSStreaming))))
    }

    @Test func streamOpenedAfterTheFirstEventsReceivesThem() throws {
        let harness = HubHarness()
        start(in: harness)
        connect(harness)
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["1", "2", "3"], snapshot: true))
        let stream = try open(in: harness)
        #expect(
            try stream.events.first?["sources"] == [
                [
                    "subscription": "s", "mode": "MERGE", "client": "c", "status": "DISCONNECTED", "active": true,
                    "subscribed": false, "lastError": .null,
                ]
            ]
        )
        harness.deliver(quotes.update(["4", "2", "3"], changed: [1]))
        #expect(try stream.names == ["status", "status", "subscribed", "update", "update"])
        #expect(try stream.events.dropFirst().map(\.id) == (1...5).map { "e1-\($0)" })
        #expect(try stream.events[0]["resume"] == "fresh")
    }

    @Test func streamOfARefusedSubscriptionReceivesTheRefusal() throws {
        let harness = HubHarness()
        start(in: harness)
        harness.hub.take(.client("c", .event(.serverError(code: 2, message: "no"))))
        harness.publish(.failed(code: 21, message: "bad group"))
        harness.hub.take(.subscription("s", .carried(by: nil)))
        let stream = try open(in: harness)
        #expect(try stream.names == ["server-error", "subscription-error"])
        #expect(try stream.events[0]["sources"]?.array?.first?["active"] == true)
        harness.hub.take(.client("c", .event(.status(.stalled))))
        harness.pass()
        #expect(try stream.names.count == 2)
    }

    @Test func clientOfTwoSubscriptionsIsListedWithItsStatusAtTheFirst() throws {
        let harness = HubHarness()
        start(in: harness)
        connect(harness)
        start("t", in: harness)
        harness.publish(quotes.subscribed, to: "t")
        let stream = try open(["t", "s"], opened: ["s", "t"], in: harness)
        let sources = try stream.events[0]["sources"]?.array
        #expect(sources?.map { $0["status"] } == ["DISCONNECTED", "DISCONNECTED"])
        #expect(try stream.names == ["status", "status", "subscribed"])
    }

    @Test func streamWithOtherSourcesJoinsThePresentState() throws {
        let harness = HubHarness()
        start(in: harness)
        start("other", in: harness)
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["1", "2", "3"], snapshot: true))
        let stream = try open(["s", "other"], in: harness)
        #expect(try stream.names == ["update", "end-of-snapshot"])
        #expect(try stream.events[0]["sources"]?.array?.first?["subscribed"] == true)
    }

    @Test func streamJoinsThePresentStateIfTheFirstEventsAreNotKept() throws {
        let harness = HubHarness { $0.replayEvents = 4 }
        start(in: harness)
        harness.publish(quotes.subscribed)
        for number in 0..<100 { harness.publish(quotes.update(["\(number)", "", ""])) }
        let stream = try open(in: harness)
        #expect(try stream.names == ["update", "end-of-snapshot"])
        #expect(try stream.events[1]["fields", "x"] == "99")
    }

    @Test func readerOfTheFirstEventsResumesAfterAnyOfThem() throws {
        let harness = HubHarness()
        start(in: harness)
        connect(harness)
        harness.publish(quotes.subscribed)
        harness.publish(quotes.update(["1", "2", "3"], snapshot: true))
        harness.close(try open(in: harness))
        let again = try open(lastEventID: "e1-2", in: harness)
        #expect(try again.events[0]["resume"] == "resumed")
        #expect(try again.names == ["subscribed", "update"])
    }

    @Test func stateOfAnotherHubIsJoined() throws {
        let harness = HubHarness(numbering: .given)
        let state: [Change] = [
            .subscription("s", .added(quotes)), .subscription("s", .carried(by: "c")),
            .subscription("s", .event(quotes.subscribed)),
            .subscription("s", .event(quotes.update(["1", "2", "3"]))),
        ]
        harness.hub.adopt(.client("c"), [.client("c", .added(.connectedWSStreaming))])
        harness.hub.adopt(.subscription("s"), state)
        let stream = try open(in: harness)
        #expect(try stream.names == ["update", "end-of-snapshot"])
        #expect(try stream.events[0]["sources"]?.array?.first?["subscribed"] == true)
    }
}

extension TestStream.Event {
    /// A member of an object in the data.
    fileprivate subscript(_ member: String, _ name: String) -> JSONValue? { data[member]?[name] }
}
