internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Hubs with given numbers: several of them have the same topics.
@Suite struct GivenNumbersTests {
    private let quotes = SubscriptionProperties.quotes

    private func makeHarness() -> HubHarness { HubHarness(numbering: .given) }

    private func event(_ event: SubscriptionEvent, _ id: SubscriptionID = "s") -> Change {
        .subscription(id, .event(event))
    }

    private func added(_ id: SubscriptionID = "s") -> [Change] {
        [
            .client("c", .added(.connectedWSStreaming)), .subscription(id, .added(quotes)),
            .subscription(id, .carried(by: "c")),
            event(quotes.subscribed, id),
        ]
    }

    private func apply(_ changes: [Change], at position: UInt64, from index: UInt16 = 0, to harness: HubHarness) {
        let numbered = changes.enumerated().map { NumberedChange(index: index + UInt16($0), change: $1) }
        harness.hub.apply(numbered, at: position)
    }

    private func id(_ position: UInt64, _ index: UInt16) -> String {
        "e1-\(EventNumber.number(position: position, index: index))"
    }

    private func update(_ value: String, item: Int = 1) -> SubscriptionEvent {
        quotes.update([value, "", ""], item: item)
    }

    @Test func eventsHaveTheNumbersOfTheirPlaces() throws {
        let harness = makeHarness()
        apply(added(), at: 7, to: harness)
        let stream = try harness.open(.subscription("s"))
        apply([event(update("1")), event(update("2"))], at: 9, from: 40, to: harness)
        harness.pass()
        #expect(try stream.events.dropFirst().map(\.id) == [id(9, 40), id(9, 41)])
        #expect(harness.hub.lastID.sequence == EventNumber.number(position: 9, index: EventNumber.complete))
    }

    @Test func snapshotEventsAreMarkedAndTheLastOneCompletesThePosition() throws {
        let harness = makeHarness()
        apply(added() + [event(update("1")), event(update("2", item: 2))], at: 3, to: harness)
        let stream = try harness.open(.subscription("s"))
        let ids = try stream.events.dropFirst().map(\.id)
        let inside = id(3, EventNumber.insideSnapshot)
        // A reader keeps the id of the event before, where it is the same.
        #expect(ids == [inside, nil, nil, id(3, EventNumber.complete)])
    }

    @Test(arguments: [true, false])
    func aStreamResumesFromTheEndOfASnapshotOnly(isComplete: Bool) throws {
        let harness = makeHarness()
        apply(added() + [event(update("1"))], at: 3, to: harness)
        apply([event(update("2"))], at: 4, to: harness)
        let stream = try harness.open(.subscription("s")) {
            $0.lastEventID = id(3, isComplete ? EventNumber.complete : EventNumber.insideSnapshot)
        }
        #expect(try stream.events[0]["resume"] == (isComplete ? "resumed" : "gap"))
        #expect(try stream.events[1].id == (isComplete ? id(4, 0) : id(4, EventNumber.insideSnapshot)))
    }

    @Test func aStreamWithAFrequencyLimitCanResumeAgain() throws {
        let harness = makeHarness()
        apply(added() + [event(update("1"))], at: 3, to: harness)
        apply([event(update("2")), event(update("3"))], at: 4, to: harness)
        let stream = try harness.open(.subscription("s")) {
            $0.lastEventID = id(3, EventNumber.complete)
            $0.maxFrequency = 1000
        }
        #expect(try stream.events.dropFirst().map(\.id) == [id(4, 1)])
    }

    @Test func aStreamResumesInsideAPosition() throws {
        let harness = makeHarness()
        apply(added(), at: 3, to: harness)
        apply([event(update("1")), event(update("2")), event(update("3"))], at: 4, to: harness)
        let stream = try harness.open(.subscription("s")) { $0.lastEventID = id(4, 0) }
        #expect(try stream.events.map(\.id) == [nil, id(4, 1), id(4, 2)])
    }

    @Test func anAdoptedTopicHasTheStateOfTheOtherHub() throws {
        let (first, second) = (makeHarness(), makeHarness())
        apply(added() + [event(update("1"))], at: 3, to: first)
        second.hub.apply([], at: 3)
        for topic in [TopicID.client("c"), .subscription("s")] {
            let state = try #require(first.hub.state(of: topic))
            #expect(state.sequence == second.hub.lastID.sequence)
            second.hub.adopt(topic, state.changes)
        }
        let streams = try [first, second].map { try $0.open(.subscription("s")) }
        for harness in [first, second] {
            apply([event(update("2")), .client("c", .event(.status(.stalled)))], at: 4, to: harness)
            harness.pass()
        }
        let events = try streams.map { try $0.events.dropFirst().map { [$0.name, $0.id ?? "", "\($0.data)"] } }
        #expect(events[0] == events[1])
        #expect(events[0].count == 4)
    }

    @Test func readersOfATopicGetTheStateThatItAdopts() throws {
        let (first, second) = (makeHarness(), makeHarness())
        apply(added() + [event(update("1"))], at: 3, to: first)
        second.hub.adopt(.subscription("s"), [.subscription("s", .added(quotes))])
        let stream = try second.open(.subscription("s"))
        second.hub.apply([], at: 3)
        second.hub.adopt(.subscription("s"), try #require(first.hub.state(of: .subscription("s"))).changes)
        second.pass()
        #expect(try stream.names == ["subscribed", "update"])
        #expect(try stream.events.last?.id == id(3, EventNumber.complete))
    }

    @Test func anotherEpochStartsEveryStreamAnew() throws {
        let harness = makeHarness()
        apply(added() + [event(update("1"))], at: 90, to: harness)
        let stream = try harness.open(.subscription("s"))
        let late = try harness.open(.subscription("s"))
        apply([event(update("2"))], at: 91, to: harness)
        harness.hub.restart(epoch: "e2", at: 5)
        #expect(harness.hub.beginnings == [.fresh: 2, .gap: 2])
        let joined = try harness.open(.subscription("s"))
        apply([event(update("3"))], at: 6, to: harness)
        harness.pass()
        let inside = EventNumber.number(position: 5, index: EventNumber.insideSnapshot)
        let complete = EventNumber.number(position: 5, index: EventNumber.complete)
        let live = EventNumber.number(position: 6, index: 0)
        for stream in [stream, late] {
            let events = try stream.events.suffix(4)
            #expect(events.map(\.id) == [nil, "e2-\(inside)", "e2-\(complete)", "e2-\(live)"])
            #expect(events.first?["resume"] == "gap")
        }
        #expect(try joined.events.last?.id == "e2-\(live)")
        let resumed = try harness.open(.subscription("s")) { $0.lastEventID = "e1-\(live)" }
        #expect(try resumed.events[0]["resume"] == "gap")
    }
}
