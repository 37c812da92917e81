internal import Changes
internal import Primitives
internal import SessionCore
internal import StreamIO
internal import Synchronization

@testable import EventHub

/// A hub with one loop under the control of the test: no sockets and threads, a manual clock.
final class HubHarness {
    private final class Time: Sendable {
        let now = Mutex(Moment.zero + .seconds(1000))
    }

    let hub: EventHub
    private let shard: HubShard
    private let time: Time
    private var streams: [Int: TestStream] = [:]
    private var news = FeedNews()
    private var count = 0

    init(
        epoch: String = "e1",
        numbering: EventNumbering = .counted,
        _ change: (inout HubConfiguration) -> Void = { _ in }
    ) {
        var configuration = HubConfiguration()
        change(&configuration)
        let time = Time()
        self.time = time
        hub = EventHub(configuration: configuration, epoch: epoch, numbering: numbering) { time.now.withLock { $0 } }
        shard = hub.makeShard(seed: 0) {}
    }

    /// A hub with a subscription that a client carries.
    static func with(
        _ id: SubscriptionID = "s",
        client: ClientID = "c",
        _ properties: SubscriptionProperties = .quotes
    ) -> HubHarness {
        let harness = HubHarness()
        harness.addSubscription(id, client: client, properties)
        return harness
    }

    var now: Moment { time.now.withLock { $0 } }

    func advance(_ duration: Duration) {
        time.now.withLock { $0 = $0 + duration }
    }

    // MARK: - Streams

    func open(
        _ request: StreamRequest,
        id: String? = nil,
        isChunked: Bool = true,
        visits: Bool = true,
        isWaiting: Bool = false
    ) throws -> TestStream {
        let id = try hub.admit(request, id: id, isWaiting: isWaiting)
        count += 1
        let opening = StreamOpening(
            stream: id,
            id: StreamID(slot: count, generation: 0),
            framing: isChunked ? .chunked : .bare,
            now: now
        )
        let subscriber = shard.attach(opening)!
        let stream = TestStream(subscriber: subscriber, isChunked: isChunked, format: request.format)
        streams[count] = stream
        if visits { stream.visit(now) }
        return stream
    }

    func open(_ source: StreamSource, _ change: (inout StreamRequest) -> Void = { _ in }) throws -> TestStream {
        var request = StreamRequest(sources: [source])
        change(&request)
        return try open(request)
    }

    func close(_ stream: TestStream) {
        streams[Int(stream.subscriber.stream.slot)] = nil
        stream.subscriber.ended(.peerClosed)
    }

    /// One pass of the loop: takes over the published events and visits their streams. With a limit, only if no more
    /// streams are due; else returns false.
    @discardableResult
    func pass(ifAtMost limit: Int? = nil) -> Bool {
        news.removeAll()
        guard shard.collect(into: &news, ifAtMost: limit, now: now) else { return false }
        for write in news.shared {
            for stream in write.streams { streams[Int(stream.slot)]?.take(write) }
        }
        for stream in news.ready { streams[Int(stream.slot)]?.visit(now) }
        return true
    }

    /// The reader of a stream reads again.
    func unblock(_ stream: TestStream) {
        stream.isBlocked = false
        stream.visit(now)
    }

    /// Visits every stream that is due.
    func visitAll() {
        for slot in streams.keys.sorted() { streams[slot]?.visit(now) }
    }

    // MARK: - Topics

    func addSubscription(
        _ id: SubscriptionID = "s",
        client: ClientID = "c",
        _ properties: SubscriptionProperties = .quotes
    ) {
        hub.take(.client(client, .added(.connectedWSStreaming)))
        hub.take(.subscription(id, .added(properties)))
        hub.take(.subscription(id, .carried(by: client)))
    }

    /// Adds a subscription that the server has confirmed.
    func subscribe(_ id: SubscriptionID, client: ClientID = "c", _ properties: SubscriptionProperties = .quotes) {
        addSubscription(id, client: client, properties)
        publish(properties.subscribed, to: id)
    }

    func publish(_ event: SubscriptionEvent, to id: SubscriptionID = "s") {
        hub.take(.subscription(id, .event(event)))
    }

    /// Publishes an event, which the loop takes over.
    func deliver(_ event: SubscriptionEvent, to id: SubscriptionID = "s") {
        publish(event, to: id)
        pass()
    }
}

extension EventHub {
    /// The outcome of the opening of a stream; nil until the stream is open.
    func outcome(of stream: String) -> ResumeOutcome? { state.withLock { $0.streams.records[stream]?.outcome } }
}

extension SubscriptionProperties {
    /// Two items of three fields.
    static var quotes: SubscriptionProperties {
        SubscriptionProperties(mode: .merge, items: .list(["a", "b"]), fields: .list(["x", "y", "z"]))
    }

    /// One item of rows.
    static var portfolio: SubscriptionProperties {
        SubscriptionProperties(mode: .command, items: .list(["p"]), fields: .list(["key", "command", "qty"]))
    }

    /// One item of messages.
    static var chat: SubscriptionProperties {
        SubscriptionProperties(mode: .distinct, items: .list(["room"]), fields: .list(["text"]))
    }

    /// The layout of updates of such a subscription.
    var layout: SubscriptionLayout {
        SubscriptionLayout(
            itemNames: items.names,
            fieldNames: fields.names,
            fieldCount: fields.names?.count ?? 3,
            keyPosition: mode == .command ? 1 : nil,
            commandPosition: mode == .command ? 2 : nil,
            secondLevelFieldNames: secondLevelFields?.names,
            hasSecondLevel: secondLevelFields != nil
        )
    }

    /// An update of such a subscription.
    func update(
        _ values: [String?],
        item: Int = 1,
        changed: [Int]? = nil,
        snapshot: Bool = false,
        patches: [Int: String] = [:]
    ) -> SubscriptionEvent {
        var set = FieldSet()
        for position in changed ?? Array(1...max(1, values.count)) { set.insert(position) }
        return .update(
            ItemUpdate(
                layout: layout,
                itemPos: item,
                isSnapshot: snapshot,
                values: values,
                changed: set,
                patches: patches
            )
        )
    }

    /// The confirmation of such a subscription.
    var subscribed: SubscriptionEvent {
        .subscribed(
            itemCount: items.names?.count ?? 1,
            fieldCount: layout.fieldCount,
            keyPosition: layout.keyPosition,
            commandPosition: layout.commandPosition
        )
    }
}
