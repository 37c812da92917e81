internal import Changes
internal import EventHub
internal import SessionCore
internal import StreamIO
internal import TLCP

/// A session machine that streams over a WebSocket, with one subscription.
final class StreamingSession {
    static let properties = SubscriptionProperties(
        mode: .merge,
        items: .list(QuoteLines.items),
        fields: .list(QuoteLines.fields)
    )

    private let context = EventContext(now: .zero, random: 0.5)
    private var machine: SessionMachine
    private var connection = ConnectionID(0)

    /// Connected and subscribed.
    init() {
        var options = ConnectionOptionValues()
        options.forcedTransport = .wsStreaming
        var details = ConnectionDetailValues()
        details.serverAddress = "http://server"
        machine = SessionMachine(options: options, details: details)
        perform(machine.connectRequested(at: context))
        perform(machine.transportOpened(connection, at: context))
        receive(["WSOK", "CONOK,sid,70000,5000,*"].map { Array($0.utf8)[...] })
        perform(machine.subscribe(SubscriptionToken(1), Self.properties, at: context))
        receive(["REQOK,1", "SUBOK,1,30,6"].map { Array($0.utf8)[...] })
    }

    private func perform(_ actions: [SessionAction]) {
        for case .openTransport(let opened, _) in actions { connection = opened }
    }

    /// Takes lines from the server.
    func receive(_ lines: [ArraySlice<UInt8>]) {
        perform(machine.received(connection, lines: lines, at: context))
    }

    /// The events that lines lead to.
    func events(of lines: [ArraySlice<UInt8>]) -> [SubscriptionEvent] {
        machine.received(connection, lines: lines, at: context).compactMap { action in
            if case .notify(.subscription(_, let event)) = action { event } else { nil }
        }
    }
}

/// A topic of a hub, with streams that keep up or are late, on a shard without sockets.
struct PublishedTopic {
    private let hub = EventHub(epoch: "epoch", clock: { .zero })
    private let shard: HubShard
    private var contents: [any StreamContent] = []
    private var news = FeedNews()
    private let isLate: Bool

    /// A topic with a number of streams. Late ones read after all events, which are conflated for them.
    init(readers: Int, isLate: Bool = false) {
        self.isLate = isLate
        shard = hub.makeShard(seed: 1) {}
        hub.take(.client(ClientID("c1"), .added(.connectedWSStreaming)))
        hub.take(.subscription(SubscriptionID("s1"), .added(StreamingSession.properties)))
        hub.take(.subscription(SubscriptionID("s1"), .carried(by: ClientID("c1"))))
        let subscribed = SubscriptionEvent.subscribed(
            itemCount: QuoteLines.items.count,
            fieldCount: QuoteLines.fields.count,
            keyPosition: nil,
            commandPosition: nil
        )
        hub.take(.subscription(SubscriptionID("s1"), .event(subscribed)))
        for reader in 0..<readers {
            guard let stream = try? hub.admit(StreamRequest(sources: [.subscription(SubscriptionID("s1"))])) else {
                continue
            }
            let id = StreamID(slot: reader, generation: 1)
            contents.append(shard.open(StreamOpening(stream: stream, id: id, framing: .chunked, now: .zero)))
        }
        fill()
    }

    /// Publishes events one by one, as a session does; the streams take them in batches.
    mutating func publish(_ events: [SubscriptionEvent]) {
        if isLate { contents.forEach { $0.blocked() } }
        for (index, event) in events.enumerated() {
            hub.take(.subscription(SubscriptionID("s1"), .event(event)))
            guard index % 100 == 99 else { continue }
            if isLate { collect() } else { fill() }
        }
        fill()
    }

    private mutating func collect() {
        news.removeAll()
        _ = shard.collect(into: &news, ifAtMost: nil, now: .zero)
    }

    private mutating func fill() {
        collect()
        for content in contents {
            var batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 256)
            while case .more = content.fill(&batch, now: .zero) {
                batch = StreamBatch(byteLimit: 1 << 16, pieceLimit: 256)
            }
        }
    }
}
