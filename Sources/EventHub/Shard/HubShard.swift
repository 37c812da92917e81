package import SessionCore

/// Looks after the streams of one loop: takes over what was published, once for all of them, and says which have
/// something due. Used on the thread of that loop only.
package final class HubShard {
    private let hub: EventHub
    private let context: ShardContext
    private let index: Int
    private var subscribers: [String: Subscriber] = [:]
    private var pass: UInt64 = 0
    private var channels: [Channel] = []
    private var unseen: [Unseen] = []
    private var groups = NewsGroups()

    /// A channel with something new, and what was there before.
    private struct Unseen {
        let channel: ShardChannel
        let seen: LogView
    }

    init(hub: EventHub, index: Int) {
        self.hub = hub
        self.index = index
        context = ShardContext(
            metrics: hub.metrics,
            configuration: hub.configuration,
            epoch: hub.locked { $0.epoch }
        )
    }

    /// The number of streams.
    package var count: Int { subscribers.count }

    // MARK: - A stream's life

    /// Opens a stream that the hub admitted: this decides its place in the sequence.
    ///
    /// - Parameters:
    ///   - id: Its id.
    ///   - tag: The number by which `collect` names it: a small one, which no other open stream of the shard has.
    ///   - isChunked: Whether its bytes are framed in HTTP chunks.
    ///   - seed: Decides its delays.
    /// - Returns: The stream, whose first bytes are due; nil if it was discarded.
    package func open(stream id: String, tag: Int, isChunked: Bool, seed: UInt64, now: Moment) -> Subscriber? {
        var delay = RetryDelay(base: hub.configuration.retryDelay, seed: seed)
        let retry = delay.milliseconds()
        let shard = index
        guard let record = hub.locked({ $0.attach(id, to: shard, retryMilliseconds: retry) }) else { return nil }
        let subscriber = Subscriber(
            record: record,
            tag: tag,
            isChunked: isChunked,
            delay: delay,
            context: context,
            now: now
        )
        subscribers[id] = subscriber
        for change in record.changes { subscriber.apply(change) }
        return subscriber
    }

    /// Forgets a stream.
    package func close(_ subscriber: Subscriber) {
        guard subscribers.removeValue(forKey: subscriber.id) != nil else { return }
        subscriber.detachAll()
        hub.discard(stream: subscriber.id)
    }

    // MARK: - Events

    /// Takes over what was published since the last time, and says which streams it concerns.
    package func collect(into news: inout HubNews, now: Moment) {
        pass &+= 1
        let changes = takeOver()
        if !changes.isEmpty { apply(changes, &news) }
        broadcast(&news)
        for unseen in unseen {
            noteLatency(of: unseen, now: now)
            unseen.channel.moveStep(now: now)
            unseen.channel.forEachCursor { note($0, &news) }
        }
        for broadcast in news.broadcasts { note(broadcast, now: now) }
        unseen.removeAll(keepingCapacity: true)
    }

    /// Gives what is new to all who are in step. Where that cannot be done alike, they fall out.
    private func broadcast(_ news: inout HubNews) {
        let channels = unseen.map(\.channel).filter { !$0.isStepAtEnd }
        if channels.count == 1 {
            // Mostly it is one channel, and then none of the readers is looked at.
            channels[0].forEachStep { readers, variant in
                if let broadcast = Broadcast(of: channels, as: variant, to: readers.tags) {
                    news.broadcasts.append(broadcast)
                } else {
                    readers.cursors.forEach { $0.subscriber.leaveLiveGroup() }
                }
            }
        } else {
            groups.form(channels, pass: pass)
            for group in groups.groups where !group.tags.isEmpty {
                let read = group.channels.map { channels[$0] }
                if let broadcast = Broadcast(of: read, as: group.variant, to: group.tags) {
                    news.broadcasts.append(broadcast)
                } else {
                    let tags = Set(group.tags)
                    read[0].liveReaders.filter { tags.contains($0.tag) }.forEach { $0.leaveLiveGroup() }
                }
            }
        }
    }

    /// Changes come before anybody is found to be late: they have their places among the events that were taken over with
    /// them, and those before them go first.
    private func apply(_ changes: [(String, [StreamChange])], _ news: inout HubNews) {
        for (id, _) in changes { subscribers[id]?.leaveLiveGroup() }
        for unseen in unseen { unseen.channel.forEachCursor { $0.subscriber.list($0) } }
        for (id, changes) in changes {
            guard let subscriber = subscribers[id] else { continue }
            for change in changes { subscriber.apply(change) }
            name(subscriber, &news)
        }
    }

    /// The one time that the lock is taken.
    private func takeOver() -> [(String, [StreamChange])] {
        hub.locked { state in
            channels.removeAll(keepingCapacity: true)
            swap(&channels, &state.shards[index].dirtyChannels)
            for channel in channels {
                guard var interest = channel.interests[index] else { continue }
                unseen.append(Unseen(channel: interest.local, seen: interest.local.view))
                interest.local.view = channel.log.view
                interest.isDirty = false
                channel.interests[index] = interest.readers > 0 ? interest : nil
            }
            guard !state.shards[index].dirtyStreams.isEmpty else { return [] }
            var changes: [(String, [StreamChange])] = []
            for id in state.shards[index].dirtyStreams {
                guard let pending = state.streams[id]?.changes, !pending.isEmpty else { continue }
                changes.append((id, pending))
                state.streams[id]?.changes = []
            }
            state.shards[index].dirtyStreams.removeAll(keepingCapacity: true)
            return changes
        }
    }

    private func noteLatency(of unseen: Unseen, now: Moment) {
        let view = unseen.channel.view
        let first = view.tail === unseen.seen.tail ? unseen.seen.tailCount : 0
        guard first < view.tailCount else { return }
        context.metrics.queueLatency.record(from: view.tail.published(at: first), to: now)
    }

    private func note(_ broadcast: Broadcast, now: Moment) {
        let readers = broadcast.tags.count
        context.metrics.addDelivered(readers * broadcast.events)
        context.metrics.deliveryLatency.record(from: broadcast.published, to: now, times: readers)
    }

    private func note(_ cursor: Cursor, _ news: inout HubNews) {
        let subscriber = cursor.subscriber
        subscriber.list(cursor)
        if subscriber.isDue, subscriber.duePass != pass {
            subscriber.fallBehind()
        } else {
            name(subscriber, &news)
        }
    }

    private func name(_ subscriber: Subscriber, _ news: inout HubNews) {
        guard !subscriber.isDue else { return }
        subscriber.isDue = true
        subscriber.duePass = pass
        news.due.append(subscriber.tag)
    }
}

/// What the streams of one shard have in common. Used on the shard's thread.
final class ShardContext {
    /// The figures of the hub.
    let metrics: HubMetrics
    /// From publication to delivery.
    let deliveryLatency: LatencyHistogram
    /// How streams behave.
    let configuration: HubConfiguration
    /// Writes what only one stream needs.
    var encoder: EventEncoder
    /// Memory for whoever merges channels.
    var turns = MergeTurns()

    /// The context of a hub's shard.
    init(metrics: HubMetrics, configuration: HubConfiguration, epoch: String) {
        self.metrics = metrics
        self.configuration = configuration
        deliveryLatency = metrics.deliveryLatency
        encoder = EventEncoder(epoch: epoch)
    }
}
