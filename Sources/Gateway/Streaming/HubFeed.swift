internal import EventHub
package import MicroHTTPD
internal import SessionCore

/// Tells one loop which of its streams have something due.
package final class HubFeed: StreamFeed {
    /// The part of the hub that looks after the loop's streams.
    let shard: HubShard
    private var streams: [StreamID?] = []
    private var hubNews = HubNews()

    /// The feed over a shard; made once for each loop, used on its thread.
    init(shard: HubShard) { self.shard = shard }

    /// Takes over what was published, and says which streams it concerns.
    package func wokenUp(_ news: inout FeedNews, now: StreamTime) {
        hubNews.removeAll()
        shard.collect(into: &hubNews, now: Moment(now))
        news.ready += hubNews.due.compactMap { streams[$0] }
        for broadcast in hubNews.broadcasts {
            var write = SharedWrite(streams: broadcast.tags.compactMap { streams[$0] })
            for piece in broadcast.pieces { write.append(piece.bytes, owner: piece.owner) }
            news.shared.append(write)
        }
        // What was broadcast is not to be kept longer than it takes to write it.
        hubNews.removeAll()
    }

    /// A stream is open: the shard names it by its place in the loop's tables.
    func add(_ stream: StreamID) {
        while streams.count <= stream.slot { streams.append(nil) }
        streams[stream.slot] = stream
    }

    /// A stream is over.
    func remove(_ stream: StreamID) {
        if streams[stream.slot] == stream { streams[stream.slot] = nil }
    }
}
