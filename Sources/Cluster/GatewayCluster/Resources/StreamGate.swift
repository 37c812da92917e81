internal import Changes
internal import EventHub
internal import Gateway
internal import Primitives
internal import Replication
internal import SessionCore
internal import StreamIO

/// The conditions for the opening of a stream of a cluster.
struct StreamGate: Sendable {
    /// The shared subscriptions that all members must have applied.
    let topics: Set<String>
    /// The last event of the client: no earlier event may be sent.
    let lastEvent: EventID?
    /// Whether the log has to be applied up to its present end: the epoch of the last event may be a later one.
    var needsEnd: Bool
    /// The deadline, at which the stream is closed if it is not open.
    let deadline: Moment
    /// The format of the stream.
    let format: EventFormat
}

/// Streams of this member.
extension ClusterNode {
    /// Adds a stream of a shared subscription, whose topic is added to the hub. Each call needs one call of `release`.
    /// Returns the id of the topic, and whether the hub did not know it.
    func hold(_ key: SharedTopicKey) -> (id: String, isNew: Bool) {
        let id = ids.id(of: key)
        state.withLock { $0.machine.hold(id, key) }
        let topic = SubscriptionID(id)
        let isNew = !hub.knows(.subscription(topic))
        if isNew {
            hub.take([.subscription(topic, .added(key.properties)), .subscription(topic, .activity(isActive: true))])
        }
        wake()
        return (id, isNew)
    }

    /// Removes a stream of a shared subscription.
    func release(_ id: String) {
        let now = clock()
        state.withLock { $0.machine.release(id, at: now) }
    }

    /// Opens the stream with this id as soon as its conditions hold.
    func admit(_ stream: String, topics: Set<String>, request: StreamRequest) {
        let lastEvent = request.lastEventID.flatMap { EventID($0) }
        let gate = StreamGate(
            topics: topics,
            lastEvent: lastEvent,
            needsEnd: lastEvent.map { !isKnown($0.epoch) } ?? false,
            deadline: clock() + configuration.openWait,
            format: request.format
        )
        shared.withLock { $0.gates[stream] = gate }
        guard gate.needsEnd else { return }
        addJob {
            guard await self.appliesEnd() else { return }
            self.shared.withLock { $0.gates[stream]?.needsEnd = false }
        }
    }

    /// Whether an epoch is the present one or an earlier one of this member.
    private func isKnown(_ name: String) -> Bool {
        if name == hub.epoch { return true }
        guard let epoch = ClusterApplier.epoch(of: name) else { return false }
        return state.withLock { $0.machine.isPast(epoch) }
    }

    /// Removes the gate of the stream with this id, which is open or has ended.
    func forget(_ stream: String) { shared.withLock { $0.gates[stream] = nil } }

    /// Whether this member is connected to the engine and has applied what the stream needs.
    func isOpen(_ gate: StreamGate, at now: Moment) -> Bool {
        let isReady = state.withLock { state in
            state.machine.isServing(at: now) && gate.topics.allSatisfy { state.machine.isReady($0) }
        }
        guard isReady, !gate.needsEnd else { return false }
        guard let last = gate.lastEvent, last.epoch == hub.epoch else { return true }
        return last.sequence <= hub.sequence
    }

    /// Whether this member serves streams.
    var isServing: Bool {
        let now = clock()
        return state.withLock { $0.machine.isServing(at: now) && $0.machine.isMember }
    }
}

/// The streams of one loop: waiting ones are opened later.
final class ClusterFeed: StreamFeed {
    private let shard: HubShard
    private let node: ClusterNode

    init(shard: HubShard, node: ClusterNode) {
        self.shard = shard
        self.node = node
    }

    func open(_ opening: StreamOpening) -> any StreamContent {
        guard let gate = node.shared.withLock({ $0.gates[opening.stream] }) else { return shard.open(opening) }
        return WaitingStream(opening: opening, gate: gate, shard: shard, node: node)
    }

    func collect(into news: inout FeedNews, ifAtMost limit: Int?, now: Moment) -> Bool {
        shard.collect(into: &news, ifAtMost: limit, now: now)
    }
}

/// A stream that is opened once the conditions of its gate hold, or closed at the deadline. It never starts with a
/// state older than the last event of its client. Used on the thread of its loop.
private final class WaitingStream: StreamContent {
    /// The interval at which the conditions are checked.
    private static let interval = Duration.milliseconds(10)

    private let opening: StreamOpening
    private let gate: StreamGate
    private let shard: HubShard
    private let node: ClusterNode
    private var content: (any StreamContent)?

    init(opening: StreamOpening, gate: StreamGate, shard: HubShard, node: ClusterNode) {
        self.opening = opening
        self.gate = gate
        self.shard = shard
        self.node = node
    }

    func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress {
        if let content { return content.fill(&batch, now: now) }
        // The gate is removed when the stream ends.
        let gate = node.shared.withLock { $0.gates[opening.stream] } ?? gate
        if node.isOpen(gate, at: now) {
            let opening = StreamOpening(stream: opening.stream, id: opening.id, framing: opening.framing, now: now)
            let content = shard.open(opening)
            self.content = content
            return content.fill(&batch, now: now)
        }
        guard now >= gate.deadline else { return .idle(wakeAt: now + Self.interval) }
        batch.append(SharedBytes(Self.closing(gate.format, opening.framing)))
        return .finish
    }

    func blocked() { content?.blocked() }

    func ended(_ reason: StreamEnd) {
        if let content { content.ended(reason) } else { node.hub.discard(stream: opening.stream) }
    }

    private static func closing(_ format: EventFormat, _ framing: StreamFraming) -> [UInt8] {
        let event = ClosingEvent.bytes(reason: "behind", retryMilliseconds: .random(in: 500...2_000), as: format)
        return framing == .chunked ? ChunkFraming.chunk(of: event) : event
    }
}
