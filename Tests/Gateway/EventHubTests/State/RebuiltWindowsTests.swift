internal import Changes
internal import SessionCore
internal import TestSupport
internal import Testing

@testable import EventHub

/// Hubs that take over windows which were rebuilt from a log.
@Suite struct RebuiltWindowsTests {
    /// The position of the state from which the windows are rebuilt.
    private static let base = 3
    private let quotes = SubscriptionProperties.quotes

    private func event(_ event: SubscriptionEvent, _ id: SubscriptionID = "s") -> Change {
        .subscription(id, .event(event))
    }

    private func update(_ value: String, _ id: SubscriptionID = "s") -> Change {
        event(quotes.update([value, "", ""]), id)
    }

    /// The changes of the positions from 1 on.
    private var log: [[Change]] {
        [
            [
                .client("c", .added(.connectedWSStreaming)), .subscription("s", .added(quotes)),
                .subscription("s", .carried(by: "c")),
            ],
            [event(quotes.subscribed), update("1")],
            [update("2"), update("3")],
            [update("4"), .client("c", .event(.status(.stalled)))],
            [event(.unsubscribed(isFinal: false)), .subscription("s", .carried(by: nil))],
            [
                .client("d", .added(.connectedWSStreaming)), .subscription("s", .carried(by: "d")),
                event(quotes.subscribed),
            ],
            [update("5")],
            [
                .subscription("t", .added(quotes)), .subscription("t", .carried(by: "d")),
                event(quotes.subscribed, "t"),
                update("6", "t"),
            ],
            [update("7", "t"), update("8")],
            [],
            [event(.unsubscribed(isFinal: true), "t"), .subscription("t", .carried(by: nil))],
            [update("9"), .client("d", .event(.status(.stalled)))],
        ]
    }

    private func numbered(_ changes: [Change]) -> [NumberedChange] {
        changes.enumerated().map { NumberedChange(index: UInt16($0), change: $1) }
    }

    private func apply(_ positions: ClosedRange<Int>, to harness: HubHarness) {
        for position in positions { harness.hub.apply(numbered(log[position - 1]), at: UInt64(position)) }
    }

    /// A hub that took over the state of another one at the end of the log, with rebuilt windows.
    private func joined(_ first: HubHarness, _ second: HubHarness, _ configuration: HubConfiguration) throws {
        let topics: [Change] = [
            .client("c", .added(.connectedWSStreaming)), .subscription("s", .added(quotes)),
            .subscription("s", .carried(by: "c")),
        ]
        let base = UInt64(Self.base)
        var windows = RebuiltWindows(configuration: configuration, epoch: "e1", topics: topics, at: base)
        for position in Self.base + 1...log.count {
            windows.apply(numbered(log[position - 1]), at: UInt64(position), now: second.now)
        }
        for topic in [TopicID.client("c"), .client("d"), .subscription("s"), .subscription("t")] {
            second.hub.adopt(topic, try #require(first.hub.state(of: topic)).changes)
        }
        second.hub.restart(epoch: "e1", at: UInt64(log.count), windows: windows)
    }

    private func hubs(_ configuration: HubConfiguration = HubConfiguration()) throws -> [HubHarness] {
        let hubs = [0, 1].map { _ in HubHarness(numbering: .given) { $0 = configuration } }
        apply(1...log.count, to: hubs[0])
        try joined(hubs[0], hubs[1], configuration)
        return hubs
    }

    private func texts(_ stream: TestStream) throws -> [String] {
        try stream.events.dropFirst().map { "\($0.id ?? "") \($0.name) \($0.data)" }
    }

    @Test(
        arguments: base...12,
        [StreamSource.subscription("s"), .client("d", withSubscriptions: true), .client("c", withSubscriptions: false)]
    )
    func streamsResumeAsOnAHubThatReadTheWholeLog(position: Int, source: StreamSource) throws {
        let hubs = try hubs()
        for index in [0, EventNumber.complete] as [UInt16] where position > Self.base || index == EventNumber.complete {
            let number = EventNumber.number(position: UInt64(position), index: index)
            let streams = try hubs.map { hub in try hub.open(source) { $0.lastEventID = "e1-\(number)" } }
            let outcomes = try streams.map { try "\($0.events[0]["resume"] as Any)" }
            #expect(outcomes[0] == outcomes[1], "\(number)")
            let texts = try streams.map(texts)
            #expect(texts[0] == texts[1], "\(number)")
        }
    }

    @Test func streamsResumeFromTheBeginningOfTheWindowsOn() throws {
        let hub = try hubs()[1]
        for position in [Self.base - 1, Self.base, 7] {
            let number = EventNumber.number(position: UInt64(position), index: EventNumber.complete)
            let stream = try hub.open(.subscription("s")) { $0.lastEventID = "e1-\(number)" }
            #expect(try stream.events[0]["resume"] == (position < Self.base ? "gap" : "resumed"))
        }
    }

    @Test func openStreamsReceiveTheStateAndLaterEventsOnly() throws {
        let configuration = HubConfiguration()
        let hubs = [0, 1].map { _ in HubHarness(numbering: .given) { $0 = configuration } }
        apply(1...log.count, to: hubs[0])
        apply(1...2, to: hubs[1])
        let stream = try hubs[1].open(.subscription("s"))
        apply(3...3, to: hubs[1])
        try joined(hubs[0], hubs[1], configuration)
        let before = try stream.events.count
        hubs[1].hub.apply(numbered([update("10")]), at: UInt64(log.count + 1))
        hubs[1].pass()
        let events = try stream.events.dropFirst(before)
        #expect(events.map(\.name) == ["stream", "update", "end-of-snapshot", "update"])
        #expect(events.first?["resume"] == "gap")
        let live = EventNumber.number(position: UInt64(log.count + 1), index: 0)
        #expect(events.last?.id == "e1-\(live)")
    }

    @Test func rebuiltWindowsHaveTheSizeOfTheHub() throws {
        var configuration = HubConfiguration()
        configuration.replayEvents = 1
        configuration.replayBytes = 1
        let hub = try hubs(configuration)[1]
        let number = EventNumber.number(position: UInt64(Self.base), index: EventNumber.complete)
        let stream = try hub.open(.subscription("s")) { $0.lastEventID = "e1-\(number)" }
        #expect(try stream.events[0]["resume"] == "gap")
    }
}
