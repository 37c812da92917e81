package import Changes
package import JSONText
package import Primitives
package import SessionCore
internal import Synchronization

/// Delivers every published event to all streams that carry its topic, in one order: the order of publication.
///
/// Events may be published from any thread; one lock makes the order. The streams of one loop belong to its `HubShard`,
/// which takes the lock once for all events that were published since the last time.
package final class EventHub: ChangeSink {
    /// The reason for the end of streams that another process can serve, or this one soon: clients return early.
    package static let behind = "behind"

    let state: RankedMutex<HubState>
    private let clock: @Sendable () -> Moment
    package let memory: StreamMemory
    package let metrics = HubMetrics()
    package let configuration: HubConfiguration

    /// A hub without topics.
    ///
    /// - Parameters:
    ///   - epoch: The name of its numbering, used by no other run of this service; letters, digits and dashes.
    ///   - clock: The time; only differences count.
    package init(
        configuration: HubConfiguration = HubConfiguration(),
        epoch: String,
        numbering: EventNumbering = .counted,
        clock: @escaping @Sendable () -> Moment = Moment.monotonic
    ) {
        self.configuration = configuration
        self.clock = clock
        let memory = StreamMemory(limit: configuration.memoryBytes, ownerLimit: configuration.ownerMemoryBytes)
        self.memory = memory
        state = RankedMutex(
            HubState(configuration: configuration, epoch: epoch, numbering: numbering, memory: memory),
            rank: .hub
        )
    }

    /// Runs the body under the lock, then wakes the loops with new events.
    func locked<Result: Sendable, Failure: Error>(
        _ body: (inout sending HubState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wakeUps) = try state.withLock { state throws(Failure) -> (Result, (@Sendable () -> Void)?) in
            let result = try body(&state)
            return (result, state.streams.queues.takeWakeUps(&state.watches))
        }
        wakeUps?()
        return result
    }

    // MARK: - Changes of this process

    package func take(_ change: Change) {
        let now = clock()
        locked { $0.apply(change, now: now) }
    }

    package func publish(_ event: SubscriptionEvent, of id: SubscriptionID) -> (@Sendable () -> Void)? {
        let now = clock()
        return state.withLock { state in
            state.apply(event, of: id, now: now)
            return state.streams.queues.takeWakeUps(&state.watches)
        }
    }

    /// Applies changes without releasing the lock in between, so that no stream joins between them.
    package func take(_ changes: [Change]) {
        let now = clock()
        locked { state in for change in changes { state.apply(change, now: now) } }
    }

    /// Applies the beginning of a subscription with a client. The rows of many values are not copied where no stream has
    /// read the subscription.
    package func carry(_ id: SubscriptionID, by client: ClientID, _ values: ValueTable?) {
        guard let values, values.isSubscribed else { return take(.subscription(id, .carried(by: client))) }
        let now = clock()
        locked { $0.carry(id, by: client, values, now: now) }
    }

    // MARK: - Changes of an ordered log

    /// Applies all changes of a position without releasing the lock in between. For hubs with given numbers; positions rise from
    /// call to call, also where a position has no changes for this hub.
    package func apply(_ changes: [NumberedChange], at position: UInt64) {
        let now = clock()
        locked { $0.apply(changes, at: position, now: now) }
    }

    /// The greatest id that a stream can have sent so far: that of the last event; with given numbers, of the last position.
    package var lastID: EventID { locked { $0.topics.numbers.lastID } }

    /// The changes that lead from an unknown topic to its present state, and the sequence that they are the state of;
    /// nil for an unknown topic.
    package func state(of topic: TopicID) -> (changes: [Change], sequence: UInt64)? {
        locked { state in state.topics.state(of: topic).map { ($0, state.topics.numbers.sequence) } }
    }

    /// The numbers of the last events of a topic up to a position, one for each of its logs, as far as this hub knows them; nil for an
    /// unknown topic.
    ///
    /// - Parameter isCarried: Whether a client, if it is the topic, carries a subscription at the position. This hub may have kept a
    ///   subscription that is gone.
    package func lastEvents(
        of topic: TopicID,
        through position: UInt64,
        carrying isCarried: (SubscriptionID) -> Bool
    ) -> [UInt64]? {
        let sequence = EventNumber.number(position: position, index: EventNumber.complete)
        return state.withLock { $0.topics.lastEvents(of: topic, through: sequence, carrying: isCarried) }
    }

    /// Sets a topic to the state that it had in another hub at this hub's present sequence (see `state(of:)`). Its
    /// window begins there. Streams that read it already receive the state as a snapshot.
    package func adopt(_ topic: TopicID, _ changes: [Change]) {
        let now = clock()
        locked { $0.adopt(topic, changes, now: now) }
    }

    /// When the last stream that carried a subscription, as a source of its own or with all subscriptions of a client, ceased to
    /// carry the subscription: `Moment.never` while a stream does, nil if no stream has.
    package func lastRead(subscription id: SubscriptionID) -> Moment? {
        state.withLock { $0.streams.lastRead(subscription: id, $0.topics) }
    }

    /// When the last streams that carried some topics ceased to carry them, as `lastRead(subscription:)`; a client is carried by
    /// the streams of which it is a source. Without an entry for a topic that no stream has carried.
    package func lastReads(of topics: [TopicID]) -> [TopicID: Moment] {
        topics.reduce(into: [:]) { reads, topic in
            // The lock is held for one of them at a time: events do not wait for thousands.
            reads[topic] = state.withLock { state -> Moment? in
                switch topic {
                case .client(let id): state.streams.lastRead(client: id)
                case .subscription(let id): state.streams.lastRead(subscription: id, state.topics)
                }
            }
        }
    }

    package func knows(_ topic: TopicID) -> Bool { locked { $0.topics.knows(topic) } }

    /// Begins another epoch after a position, for hubs with given numbers: replaces the windows of all topics and
    /// restarts every stream, with a `stream` event of outcome `gap` and a fresh snapshot.
    ///
    /// - Parameters:
    ///   - windows: The windows of the topics at the position; nil: they begin there.
    ///   - isDegraded: Whether `stream` events say that the process is cut off from its cluster in this epoch.
    package func restart(epoch: String, at position: UInt64, windows: RebuiltWindows? = nil, isDegraded: Bool = false) {
        locked { $0.restart(epoch: epoch, at: position, windows: windows, isDegraded: isDegraded) }
    }

    // MARK: - Streams

    /// Admits a stream, which a shard opens later.
    ///
    /// - Parameters:
    ///   - id: The id of the stream; if nil, or if another stream has this id, the stream gets a new one.
    ///   - isWaiting: Whether the stream has no events, except heartbeats, before a call of `begin`.
    /// - Returns: The id of the stream.
    /// - Throws: `unknownSource`; then no stream is admitted.
    package func admit(
        _ request: StreamRequest,
        id: String? = nil,
        isWaiting: Bool = false
    ) throws(HubError) -> String {
        let now = clock()
        return try locked { state throws(HubError) in
            try state.streams.admit(request, id: id, isWaiting: isWaiting, state.topics, now: now)
        }
    }

    /// Begins a stream that was admitted as one that waits. Does nothing for any other stream.
    package func begin(stream id: String) { locked { $0.streams.begin(id, &$0.topics) } }

    /// Removes a stream that is over, or was never opened.
    package func discard(stream id: String) {
        let now = clock()
        locked { $0.streams.discard(id, now: now) }
    }

    /// Changes the sources of a stream, all or nothing. The stream gets a `stream` event with its sources, then the
    /// present state of those that were added, unless the stream is ending.
    ///
    /// - Parameter types: The types of the fields of those that were added, for a stream with typed values.
    /// - Parameter filter: The filter for the subscriptions of the clients among the sources; nil: the present filter.
    /// - Returns: The greatest id that the stream can have sent before the change.
    @discardableResult
    package func change(
        stream id: String,
        add: [StreamSource],
        remove: [StreamSource],
        types: FieldTypes = [:],
        filter: (any SubscriptionFilter)? = nil
    ) throws(HubError) -> EventID {
        let now = clock()
        return try locked { state throws(HubError) in
            let last = state.topics.numbers.lastID
            try state.streams.change(id, add: add, remove: remove, types, filter, &state.topics, now: now)
            return last
        }
    }

    /// Delivers what is due on a stream, then closes it for this reason; false if no stream has this id.
    @discardableResult
    package func close(stream id: String, reason: String) -> Bool {
        locked { $0.streams.close(id, reason: reason, $0.topics) }
    }

    package func closeAll(reason: String) {
        locked { state in
            for id in state.streams.records.keys { _ = state.streams.close(id, reason: reason, state.topics) }
        }
    }

    /// Summaries of all streams, ordered by id.
    package func streams() -> [StreamSummary] {
        locked { $0.streams.records.values.map(\.summary) }.sorted { $0.id < $1.id }
    }

    package func stream(_ id: String) -> StreamSummary? { locked { $0.streams.records[id]?.summary } }

    package var published: UInt64 { locked { $0.published } }

    /// How many values of typed fields were written as text, because they are not of the types of their fields.
    package var invalidValues: UInt64 { locked { $0.encoder.invalidCount } &+ metrics.invalidValues.count }

    /// The beginnings of streams by their outcomes, including those of open streams in another epoch.
    package var beginnings: [ResumeOutcome: UInt64] { locked { $0.streams.beginnings } }

    // MARK: - Shards

    /// Makes the shard of one loop; call it on the loop's thread.
    ///
    /// - Parameters:
    ///   - seed: The seed of the random delays of its streams.
    ///   - wake: Has `collect` called soon, or at once by the calling thread; called from any thread, without the lock.
    package func makeShard(seed: UInt64, wake: @escaping @Sendable () -> Void) -> HubShard {
        let index = locked { $0.streams.queues.addShard(wake: wake) }
        return HubShard(hub: self, index: index, seed: seed)
    }
}

/// The limits and intervals of a hub.
package struct HubConfiguration: Sendable {
    /// How many events of a topic are kept for resuming.
    package var replayEvents = 1024
    /// How many bytes of events of a topic are kept for resuming.
    package var replayBytes = 1 << 20
    /// How far a reader that does not conflate may fall behind, in bytes, before its stream is closed.
    package var windowBytes = 64 << 20
    /// How many unread DISTINCT and RAW updates a conflating stream holds before the oldest are dropped.
    package var windowEvents = 1000
    /// The memory of all streams and replay windows in bytes; 0: no limit. Above it the oldest windows are dropped, then
    /// the slowest readers are closed.
    package var memoryBytes = 0
    /// The memory of the unread events of one owner's streams in bytes; 0: no limit. Above it the slowest readers of the
    /// owner are closed.
    package var ownerMemoryBytes = 0
    /// The interval of heartbeats on an idle stream.
    package var heartbeatInterval = Duration.seconds(15)
    /// The least time that clients wait before they reconnect; a random time of up to the same length is added.
    package var retryDelay = Duration.seconds(2)
    /// How many past rows of an item a snapshot has in DISTINCT mode.
    package var recentRows = 100

    /// The text of `subscription-error` events.
    package var refusalText = RefusalText.plain

    package init() {}
}

/// The reason for which the hub refuses a call.
package enum HubError: Error, Equatable, Sendable {
    /// No such client or subscription.
    case unknownSource(StreamSource)
    /// No such stream, or it has ended.
    case unknownStream(String)
}

/// The present state of a subscription, for readers that are no streams.
package struct SubscriptionSnapshot: Sendable {
    package let table: ValueTable
    package let isActive: Bool
    /// Why the server last refused or removed the subscription; nil since it was activated or confirmed.
    package let lastError: UpstreamRefusal?
    /// The client that carries the subscription; nil: none.
    package let client: ClientID?
    /// The status of that client; nil without one.
    package let status: ClientStatus?

    package var version: ValuesVersion { ValuesVersion(table: table.version, isActive: isActive, status: status) }

    fileprivate init?(of subscription: SubscriptionID, in topics: TopicTable) {
        guard let record = topics.subscriptions[subscription] else { return nil }
        (table, isActive, lastError) = (record.table, record.isActive, record.lastError)
        client = record.client
        if let client { status = topics.clients[client]?.status } else { status = nil }
    }
}

/// The version of the values of a subscription: equal versions mean equal values of equal state.
package struct ValuesVersion: Sendable, Equatable {
    let table: UInt64
    package let isActive: Bool
    /// The status of the client that carries the subscription; nil without one.
    let status: ClientStatus?
}

extension EventHub {
    /// The present state of a subscription; nil for an unknown one.
    package func snapshot(of subscription: SubscriptionID) -> SubscriptionSnapshot? { read(subscription) { $0 } }

    /// Reads the present state of a subscription; nil for an unknown one. The body runs under the hub's lock, so that no change
    /// has to copy the table meanwhile.
    package func read<Result: Sendable>(
        _ subscription: SubscriptionID,
        _ body: (SubscriptionSnapshot) -> Result
    ) -> Result? {
        locked { SubscriptionSnapshot(of: subscription, in: $0.topics).map(body) }
    }

    /// Writes a source with its present state, in the form of the `stream` event without the members that only this event has.
    package func write(_ source: StreamSource, to json: inout JSONBytes) {
        let state = locked { SourceState(of: source.topic, in: $0.topics) } ?? .unknown(source.topic)
        json.write(state, isWhole: false)
    }

    /// Calls back after each change of a subscription, on the thread that made the change and outside the hub's lock.
    /// The callback must not wait. Its result ends the watch when it is given to `unwatch`.
    package func watch(_ subscription: SubscriptionID, _ changed: @escaping @Sendable () -> Void) -> UInt64 {
        locked { $0.watches.add(subscription, changed) }
    }

    package func unwatch(_ watch: UInt64, of subscription: SubscriptionID) {
        locked { $0.watches.remove(watch, of: subscription) }
    }
}
