internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Streams whose last events are older than the windows of a hub that has joined others.
@Suite struct LastEventsTests {
    /// The position of the state from which the windows are rebuilt.
    private static let base: UInt64 = 5
    private static let topics: [TopicID] = [
        .client("c"), .client("d"), .subscription("s"), .subscription("t"), .subscription("u"),
    ]
    private let quotes = SubscriptionProperties.quotes

    private func added(_ id: SubscriptionID, _ client: ClientID) -> [Change] {
        [.subscription(id, .added(quotes)), .subscription(id, .carried(by: client))]
    }

    private func event(_ event: SubscriptionEvent, _ id: SubscriptionID) -> Change {
        .subscription(id, .event(event))
    }

    private func update(_ value: String, _ id: SubscriptionID) -> Change { event(quotes.update([value, "", ""]), id) }

    /// The changes of the positions from 1 on: "s" is silent after position 2, and "u" ends at position 4.
    private var log: [[Change]] {
        [
            [.client("c", .added(.connectedWSStreaming))] + added("s", "c"),
            [event(quotes.subscribed, "s"), update("1", "s")],
            [.client("d", .added(.connectedWSStreaming))] + added("t", "d") + added("u", "c")
                + [event(quotes.subscribed, "t"), event(quotes.subscribed, "u")],
            [event(.unsubscribed(isFinal: true), "u"), .subscription("u", .carried(by: nil))],
            [update("2", "t")],
            [update("3", "t")],
            [],
        ]
    }

    private func numbered(_ changes: [Change]) -> [NumberedChange] {
        changes.enumerated().map { NumberedChange(index: UInt16($0), change: $1) }
    }

    /// A hub that has read the whole log.
    private func reader() -> HubHarness {
        let reader = HubHarness(numbering: .given)
        for (index, changes) in log.enumerated() { reader.hub.apply(numbered(changes), at: UInt64(index) + 1) }
        return reader
    }

    /// A hub that takes over the state of another one at the end of the log.
    private func joined(_ other: HubHarness) throws -> HubHarness {
        let joined = HubHarness(numbering: .given)
        let clients: [Change] = [
            .client("c", .added(.connectedWSStreaming)), .client("d", .added(.connectedWSStreaming)),
        ]
        var lastEvents: [TopicID: [UInt64]] = [:]
        for topic in Self.topics {
            lastEvents[topic] = other.hub.lastEvents(of: topic, through: Self.base) { _ in true }
        }
        var windows = RebuiltWindows(
            configuration: HubConfiguration(),
            epoch: "e1",
            topics: clients + added("s", "c") + added("t", "d") + [.subscription("u", .added(quotes))],
            lastEvents: lastEvents,
            at: Self.base
        )
        for position in Self.base + 1...UInt64(log.count) {
            windows.apply(numbered(log[Int(position) - 1]), at: position, now: joined.now)
        }
        for topic in Self.topics { joined.hub.adopt(topic, try #require(other.hub.state(of: topic)).changes) }
        joined.hub.restart(epoch: "e1", at: UInt64(log.count), windows: windows)
        return joined
    }

    private static let sources: [(StreamSource, Int)] = [
        (.subscription("s"), 2), (.subscription("t"), 5), (.client("c", withSubscriptions: false), 1),
        (.client("c", withSubscriptions: true), 4), (.client("d", withSubscriptions: true), 5),
    ]

    /// The second hub joins one that has joined before.
    @Test(arguments: sources)
    func streamsResumeFromTheirLastEventBeforeTheWindowsOn(source: StreamSource, first: Int) throws {
        let reader = reader()
        let joiner = try joined(reader)
        let hubs = [joiner, try joined(joiner)]
        for position in 1...log.count {
            let number = EventNumber.number(position: UInt64(position), index: EventNumber.complete)
            let complete = try reader.open(source) { $0.lastEventID = "e1-\(number)" }
            for hub in hubs {
                let stream = try hub.open(source) { $0.lastEventID = "e1-\(number)" }
                #expect(try stream.events[0]["resume"] == (position < first ? "gap" : "resumed"), "\(position)")
                if position < first { continue }
                let texts = try [complete, stream].map { try $0.events.dropFirst().map { "\($0.id ?? "") \($0.data)" } }
                #expect(texts[0] == texts[1], "\(position)")
            }
        }
    }

    /// A hub with local readers keeps a shared subscription that the log has ended, and the client that carried it. The other hub
    /// takes over its state after that, and reads how the log has the subscription again.
    @Test func eventsOfASubscriptionThatOneHubHasKeptAreMissed() throws {
        let clients: [Change] = [
            .client("c", .added(.connectedWSStreaming)), .client("d", .added(.connectedWSStreaming)),
        ]
        let returns: [[Change]] = [
            [], added("u", "c"),
            [.subscription("u", .added(quotes)), event(.failed(code: 68, message: "no session"), "u")]
                + [.subscription("u", .carried(by: "d"))],
        ]
        for later in returns {
            let (keeper, joiner) = (HubHarness(numbering: .given), HubHarness(numbering: .given))
            let log = [
                clients + added("u", "c"), [event(quotes.subscribed, "u")], [update("1", "u")],
                [event(.unsubscribed(isFinal: false), "u")], [], later,
            ]
            for (index, changes) in log.enumerated() { keeper.hub.apply(numbered(changes), at: UInt64(index) + 1) }
            var lastEvents: [TopicID: [UInt64]] = [:]
            for topic in clients.map(\.topic) {
                lastEvents[topic] = keeper.hub.lastEvents(of: topic, through: Self.base) { _ in false }
            }
            var windows = RebuiltWindows(
                configuration: HubConfiguration(),
                epoch: "e1",
                topics: clients,
                lastEvents: lastEvents,
                at: Self.base
            )
            windows.apply(numbered(later), at: Self.base + 1, now: joiner.now)
            for change in clients { joiner.hub.adopt(change.topic, [change]) }
            if let client = later.isEmpty ? nil : keeper.hub.snapshot(of: "u")?.client {
                joiner.hub.adopt(.subscription("u"), added("u", client))
            }
            joiner.hub.restart(epoch: "e1", at: Self.base + 1, windows: windows)
            for position in 1...Self.base {
                let number = EventNumber.number(position: position, index: EventNumber.complete)
                let source = StreamSource.client("c", withSubscriptions: true)
                let stream = try joiner.open(source) { $0.lastEventID = "e1-\(number)" }
                #expect(try stream.events[0]["resume"] == (position < 4 ? "gap" : "resumed"), "\(position)")
            }
        }
    }

    @Test func topicsOfAHubThatDoesNotKnowThemHaveNoLastEvents() {
        let hub = HubHarness(numbering: .given).hub
        for topic in Self.topics { #expect(hub.lastEvents(of: topic, through: Self.base) { _ in true } == nil) }
    }

    /// Nothing may be missed because of numbers that are none of this topic.
    @Test func unexpectedLastEventsHaveNoEffect() throws {
        var state = HubState(configuration: HubConfiguration(), epoch: "e1", numbering: .given)
        for change in added("s", "c") { state.apply(change, now: .zero) }
        state.restart(epoch: "e1", at: Self.base, windows: nil, isDegraded: false)
        let present = state.topics.numbers.sequence
        for last in [[], [1, 1], [UInt64.max]] {
            state.topics.setLastEvents(last, of: .subscription("s"))
            let set = state.topics.lastEvents(of: .subscription("s"), through: present) { _ in true }
            #expect(set == [present])
        }
    }
}
