package import Primitives
package import StreamIO

/// The streams of one loop: takes over published events once for all of them, and reports the streams that are due.
/// Used by one thread at a time (see `StreamFeed`).
package final class HubShard: StreamFeed {
    private let hub: EventHub
    private let seed: UInt64
    private let context: ShardContext
    private let index: Int
    private var subscribers: [String: Subscriber] = [:]
    private var pass: UInt64 = 0
    private var channels: [Channel] = []
    private var unseen: [UnseenChannel] = []
    private var groups = LiveGroups()
    private var compressedGroups: [CompressedGroup.Key: CompressedGroup] = [:]
    private var groupCount: UInt64 = 0

    init(hub: EventHub, index: Int, seed: UInt64) {
        self.hub = hub
        self.index = index
        self.seed = seed
        context = ShardContext(of: hub)
    }

    // MARK: - A stream's life

    /// Opens a stream that the hub admitted, and sets its first sequence; one discarded meanwhile ends at once.
    package func open(_ opening: StreamOpening) -> any StreamContent { attach(opening) ?? DiscardedStream() }

    /// Opens a stream that the hub admitted; nil if there is none of this id.
    func attach(_ opening: StreamOpening) -> Subscriber? {
        let id = opening.stream
        let shard = index
        var delay = RetryDelay(base: hub.configuration.retryDelay, seed: seed &+ opening.id.rawValue)
        let retry = delay.milliseconds()
        let attached = hub.locked { $0.streams.attach(id, to: shard, retryMilliseconds: retry, &$0.topics) }
        guard let (record, changes) = attached else { return nil }
        let subscriber = Subscriber(record: record, opening: opening, shard: self, delay: delay, context: context)
        subscribers[id] = subscriber
        for change in changes { subscriber.apply(change) }
        return subscriber
    }

    func close(_ subscriber: Subscriber) {
        guard subscribers.removeValue(forKey: subscriber.id) != nil else { return }
        subscriber.detachAll()
        hub.discard(stream: subscriber.id)
    }

    // MARK: - Events

    /// Takes over the events that were published since the last call, and reports the streams that read them. With a
    /// limit, only if no stream has changes.
    package func collect(into news: inout FeedNews, ifAtMost limit: Int?, now: Moment) -> Bool {
        // The only place where a pass takes the hub's lock. Nothing here wakes a loop.
        let changes = hub.state.withLock { state in
            state.streams.queues.takeOver(by: index, ifAtMost: limit, channels: &channels, unseen: &unseen)
        }
        guard let changes else { return false }
        pass &+= 1
        if !changes.isEmpty { apply(changes, &news) }
        if unseen.count > 1 {
            broadcast(&news, now: now)
        } else if let only = unseen.first, !only.channel.liveGroups.isEmpty {
            broadcast(only.channel, &news, now: now)
        }
        for unseen in unseen where !unseen.channel.compressedGroups.isEmpty {
            broadcastCompressed(unseen.channel, &news, now: now)
        }
        // All channels, before a stream falls behind: it would conflate without those that are listed later.
        if unseen.count > 1 { listLateReaders() }
        for unseen in unseen {
            // The time that the first new event has waited.
            let view = unseen.channel.view
            let first = view.tail === unseen.seen.tail ? unseen.seen.tailCount : 0
            if first < view.tailCount {
                context.metrics.queueLatency.record(from: view.tail[first].published, to: now)
            }
            unseen.channel.advanceLiveGroups(now: now)
            for cursor in unseen.channel.lateReaders() { markDue(cursor, &news) }
        }
        unseen.removeAll(keepingCapacity: true)
        if !context.hasGreedyOwner, !context.memory.isExceeded { return true }
        closeSlowest(&news)
        return true
    }

    /// Closes the readers that hold most memory, until no budget is exceeded. Readers within an equal share of the budget
    /// of all streams stay: they do not cause the excess.
    private func closeSlowest(_ news: inout FeedNews) {
        context.hasGreedyOwner = false
        let memory = context.memory
        let share = memory.goal / max(1, hub.locked { $0.streams.records.count })
        let holders = subscribers.values.map { ($0, $0.heldBytes) }.filter { $0.1 > 0 }.sorted { $0.1 > $1.1 }
        for (subscriber, held) in holders {
            let isGreedy = subscriber.charged > 0 && memory.ownerLimit < subscriber.ownerMemory.used
            guard memory.isExceeded && held > share || isGreedy else { continue }
            subscriber.closeSlowReader()
            markDue(subscriber, &news)
        }
    }

    /// Sends new events to the live groups. Streams that cannot take part in a broadcast leave their group.
    private func broadcast(_ news: inout FeedNews, now: Moment) {
        let channels = unseen.map(\.channel).filter { !$0.liveGroups.isEmpty && !$0.isLiveGroupAtEnd }
        if channels.isEmpty { return }
        groups.form(channels, pass: pass)
        for group in groups.groups where !group.streams.isEmpty {
            let steps = groups.channels(of: group)
            let read = steps.map { channels[$0.place] }
            if let broadcast = Broadcast(of: read, as: steps.map(\.variant), to: group.streams) {
                send(broadcast, &news, now: now)
            } else {
                let streams = Set(group.streams)
                read[0].liveReaders.filter { streams.contains($0.stream) }.forEach { $0.leaveLiveGroup() }
            }
        }
    }

    /// Sends the new events of the only channel that has any: the usual case, in which no reader is visited.
    private func broadcast(_ channel: ShardChannel, _ news: inout FeedNews, now: Moment) {
        guard !channel.isLiveGroupAtEnd else { return }
        for group in channel.liveGroups where !group.readers.isEmpty {
            if let broadcast = Broadcast(of: channel, as: group.variant, to: group.readers.streams) {
                send(broadcast, &news, now: now)
            } else {
                for reader in group.readers.all { reader.subscriber.leaveLiveGroup() }
            }
        }
    }

    private func broadcastCompressed(_ channel: ShardChannel, _ news: inout FeedNews, now: Moment) {
        for group in channel.compressedGroups where group.pass != pass {
            group.pass = pass
            guard let broadcasts = group.broadcast() else { continue }
            if broadcasts.isRefused {
                group.subscribers.forEach { $0.leaveLiveGroup() }
                continue
            }
            news.shared += broadcasts.writes
            context.metrics.delivered.add(broadcasts.readers * broadcasts.events)
            context.metrics.deliveryLatency.record(from: broadcasts.published, to: now, times: broadcasts.readers)
        }
    }

    /// The compressed group of streams that read the channels of these cursors in their variants.
    func compressedGroup(of cursors: [Cursor]) -> CompressedGroup {
        let cursors = cursors.sorted { $0.channel.id < $1.channel.id }
        let channels = cursors.map(\.channel)
        let key = CompressedGroup.Key(channels: channels.map { ObjectIdentifier($0) }, variants: cursors.map(\.variant))
        if let group = compressedGroups[key] { return group }
        groupCount += 1
        let group = CompressedGroup(number: groupCount, key: key, channels: channels, context: context)
        compressedGroups[key] = group
        for channel in channels { channel.add(group) }
        return group
    }

    /// A stream has left a compressed group, which ends with its last stream.
    func left(_ group: CompressedGroup) {
        guard group.isEmpty else { return }
        compressedGroups[group.key] = nil
        for channel in group.channels { channel.remove(group) }
    }

    /// Applies changes of streams behind the events that were taken over with them.
    private func apply(_ changes: [(String, [StreamChange])], _ news: inout FeedNews) {
        for (id, _) in changes { subscribers[id]?.leaveLiveGroup() }
        listLateReaders()
        for (id, changes) in changes {
            guard let subscriber = subscribers[id] else { continue }
            for change in changes { subscriber.apply(change) }
            markDue(subscriber, &news)
        }
    }

    /// Lists the channels with new events at the streams that read them by cursors of their own.
    private func listLateReaders() { for unseen in unseen { unseen.channel.listLateReaders() } }

    private func send(_ broadcast: Broadcast, _ news: inout FeedNews, now: Moment) {
        news.shared.append(broadcast.write)
        let readers = broadcast.write.streams.count
        context.metrics.delivered.add(readers * broadcast.events)
        context.metrics.deliveryLatency.record(from: broadcast.published, to: now, times: readers)
    }

    private func markDue(_ cursor: Cursor, _ news: inout FeedNews) {
        let subscriber = cursor.subscriber
        subscriber.cursors.list(cursor)
        if !subscriber.isDue {
            subscriber.isDue = true
            subscriber.duePass = pass
            news.ready.append(subscriber.stream)
        } else if subscriber.duePass != pass {
            subscriber.fallBehind()
        }
    }

    private func markDue(_ subscriber: Subscriber, _ news: inout FeedNews) {
        guard !subscriber.isDue else { return }
        subscriber.isDue = true
        subscriber.duePass = pass
        news.ready.append(subscriber.stream)
    }
}

/// The state that the streams of a shard share. Used by the thread that uses the shard.
final class ShardContext {
    let metrics: HubMetrics
    let memory: StreamMemory
    /// Whether an owner of a stream of the shard exceeded its memory since the last check.
    var hasGreedyOwner = false
    let configuration: HubConfiguration
    /// Encodes events for single streams.
    var encoder: EventEncoder
    private let deflater = Deflater(.least)
    /// Memory for merging channels.
    var order = MergeOrder()

    init(of hub: EventHub) {
        metrics = hub.metrics
        memory = hub.memory
        configuration = hub.configuration
        encoder = EventEncoder(epoch: hub.lastID.epoch, refusalText: hub.configuration.refusalText)
    }

    /// Compresses bytes into blocks that refer to nothing before them.
    func independent(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        deflater.reset()
        return deflater.compress(bytes)
    }
}

private final class DiscardedStream: StreamContent {
    func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress { .finish }
    func blocked() {}
    func ended(_ reason: StreamEnd) {}
}
