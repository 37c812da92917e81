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
    private var news: [News] = []

    private struct News {
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
    ///   - tag: The number by which `collect` names it.
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

    /// Takes over what was published since the last time, and names the streams that it concerns by their tags.
    package func collect(now: Moment, due: (Int) -> Void) {
        pass &+= 1
        let changes = takeOver()
        if !changes.isEmpty { apply(changes, due) }
        for news in news {
            noteLatency(of: news, now: now)
            news.channel.forEachCursor { note($0, due) }
        }
        news.removeAll(keepingCapacity: true)
    }

    /// Changes come before anybody is found to be late: they have their places among the events that were taken over with
    /// them, and those before them go first.
    private func apply(_ changes: [(String, [StreamChange])], _ due: (Int) -> Void) {
        for news in news { news.channel.forEachCursor { $0.subscriber.list($0) } }
        for (id, changes) in changes {
            guard let subscriber = subscribers[id] else { continue }
            for change in changes { subscriber.apply(change) }
            name(subscriber, due)
        }
    }

    /// The one time that the lock is taken.
    private func takeOver() -> [(String, [StreamChange])] {
        hub.locked { state in
            channels.removeAll(keepingCapacity: true)
            swap(&channels, &state.shards[index].dirtyChannels)
            for channel in channels {
                guard var interest = channel.interests[index] else { continue }
                news.append(News(channel: interest.local, seen: interest.local.view))
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

    private func noteLatency(of news: News, now: Moment) {
        let view = news.channel.view
        let first = view.tail === news.seen.tail ? news.seen.tailCount : 0
        guard first < view.tailCount else { return }
        context.metrics.queueLatency.record(from: view.tail.published(at: first), to: now)
    }

    private func note(_ cursor: Cursor, _ due: (Int) -> Void) {
        let subscriber = cursor.subscriber
        subscriber.list(cursor)
        if subscriber.isDue, subscriber.duePass != pass {
            subscriber.fallBehind()
        } else {
            name(subscriber, due)
        }
    }

    private func name(_ subscriber: Subscriber, _ due: (Int) -> Void) {
        guard !subscriber.isDue else { return }
        subscriber.isDue = true
        subscriber.duePass = pass
        due(subscriber.tag)
    }
}
