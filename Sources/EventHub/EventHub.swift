package import SessionCore
internal import Synchronization

/// Hands every published event to all streams that carry its topic, in one order: the order of publication.
///
/// Publishing may be done from any thread; one lock makes the order. The streams of one loop are looked after by its
/// `HubShard`, which takes the lock once for all that was published since it last looked.
package final class EventHub: Sendable {
    private let state: Mutex<HubState>
    private let clock: @Sendable () -> Moment
    /// What the hub and its shards did so far.
    package let metrics = HubMetrics()
    /// The figures it works by.
    package let configuration: HubConfiguration

    /// A hub without topics.
    ///
    /// - Parameters:
    ///   - configuration: Its figures.
    ///   - epoch: A word that no other life of this service had or will have; letters, digits and dashes.
    ///   - clock: The time; only differences count.
    package init(
        configuration: HubConfiguration = HubConfiguration(),
        epoch: String,
        clock: @escaping @Sendable () -> Moment
    ) {
        self.configuration = configuration
        self.clock = clock
        state = Mutex(HubState(configuration: configuration, epoch: epoch))
    }

    /// Does something under the lock, then wakes the loops that it concerns.
    func locked<Result: Sendable, Failure: Error>(
        _ body: (inout sending HubState) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (result, wakeUps) = try state.withLock { state throws(Failure) -> (Result, HubState.WakeUps?) in
            let result = try body(&state)
            return (result, state.takeWakeUps())
        }
        wakeUps?()
        return result
    }

    // MARK: - Topics

    /// A client exists from now on. Nothing happens if it did before.
    package func addClient(_ id: String, status: ClientStatus = .disconnected) {
        locked { $0.addClient(id, status: status) }
    }

    /// A client is gone: streams get what was published, and those that carried nothing else are closed.
    package func removeClient(_ id: String) {
        locked { $0.removeClient(id) }
    }

    /// A subscription resource exists from now on; it is not active. Nothing happens if it did before.
    package func addSubscription(_ id: String, properties: SubscriptionProperties) {
        locked { $0.addSubscription(id, properties: properties) }
    }

    /// A subscription is active and carried by this client from now on. What it already has is told to its streams as
    /// if it came now.
    package func carry(subscription id: String, by client: String, present: ValueTable) {
        let now = clock()
        locked { $0.carry(id, by: client, present: present, now: now) }
    }

    /// A subscription is not carried by its client any more; publish what it had to say before. Whether it is active
    /// does not change.
    package func release(subscription id: String) {
        locked { $0.release(id) }
    }

    /// A subscription becomes active or inactive without an event that tells it.
    package func setActive(_ isActive: Bool, subscription id: String) {
        locked { $0.setActive(isActive, id) }
    }

    /// A subscription is gone: streams get what was published, and those that carried nothing else are closed.
    package func removeSubscription(_ id: String) {
        locked { $0.removeSubscription(id) }
    }

    /// Tells an event to all streams of a topic. Calls for one topic must come in the order in which the events
    /// happened. One for a topic that is gone goes nowhere.
    package func publish(_ event: HubEvent, to topic: TopicID) {
        let now = clock()
        locked { $0.publish(event, to: topic, now: now) }
    }

    // MARK: - Streams

    /// Takes in the request for a stream; a shard opens it.
    ///
    /// - Parameters:
    ///   - request: What is asked.
    ///   - id: The id it should have, taken only if no stream has it; nil: one is made.
    /// - Returns: The id it has.
    /// - Throws: `unknownSource`; nothing is left behind.
    package func admit(_ request: StreamRequest, id: String? = nil) throws(HubError) -> String {
        let now = clock()
        return try locked { state throws(HubError) in try state.admit(request, id: id, now: now) }
    }

    /// Forgets a stream that is over, or was never opened.
    package func discard(stream id: String) {
        locked { $0.discard(id) }
    }

    /// Changes the sources of a stream, all or nothing. The stream is told its sources anew, and the present state of
    /// those that were added.
    package func change(stream id: String, add: [StreamSource], remove: [StreamSource]) throws(HubError) {
        try locked { state throws(HubError) in try state.change(id, add: add, remove: remove) }
    }

    /// Tells a stream what is due, then that it is closed for this reason; false if there is none of this id.
    @discardableResult
    package func close(stream id: String, reason: String) -> Bool {
        locked { $0.close(id, reason: reason) }
    }

    /// Closes all streams for this reason.
    package func closeAll(reason: String) {
        locked { state in
            for id in state.streams.keys { _ = state.close(id, reason: reason) }
        }
    }

    /// What is true of all streams now, in the order of their ids.
    package func streams() -> [StreamSummary] {
        locked { $0.streams.values.map(\.summary) }.sorted { $0.id < $1.id }
    }

    /// What is true of a stream now; nil if there is none of this id.
    package func stream(_ id: String) -> StreamSummary? {
        locked { $0.streams[id]?.summary }
    }

    /// The number of events published so far.
    package var published: UInt64 { locked { $0.published } }

    // MARK: - Shards

    /// Makes the part that looks after the streams of one loop; call it on the loop's thread.
    ///
    /// - Parameters:
    ///   - seed: Decides the delays of its streams.
    ///   - wake: Makes the loop call `collect` soon; called from any thread, without the lock.
    package func makeShard(seed: UInt64, wake: @escaping @Sendable () -> Void) -> HubShard {
        let index = locked { state in
            state.shards.append(HubState.ShardRecord(wake: wake))
            return state.shards.count - 1
        }
        return HubShard(hub: self, index: index, seed: seed)
    }
}

/// The figures of a hub.
package struct HubConfiguration: Sendable {
    /// How many events of a topic are kept for resuming.
    package var replayEvents = 1024
    /// How many bytes of events of a topic are kept for resuming.
    package var replayBytes = 1 << 20
    /// How far a reader that does not conflate may fall behind, in bytes, before its stream is closed.
    package var windowBytes = 64 << 20
    /// How many unread events a conflating stream holds of DISTINCT and RAW subscriptions before the oldest are lost.
    package var windowEvents = 1000
    /// How often a stream says something when it has nothing to say.
    package var heartbeatInterval = Duration.seconds(15)
    /// The least time that a consumer is told to wait before it reconnects; up to as much again is added at random.
    package var retryDelay = Duration.seconds(2)
    /// How many past rows of an item are kept for late joiners in DISTINCT mode.
    package var recentRows = 100

    /// The documented defaults.
    package init() {}
}

/// Why the hub refuses a call.
package enum HubError: Error, Equatable, Sendable {
    /// No such client or subscription.
    case unknownSource(StreamSource)
    /// No such stream, or it has ended.
    case unknownStream(String)
}
