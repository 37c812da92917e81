internal import EventHub
package import MicroHTTPD
internal import SessionCore

/// Tells one loop which of its streams have something due.
package final class HubFeed: StreamFeed {
    /// The part of the hub that looks after the loop's streams.
    let shard: HubShard
    private var streams: [StreamID?] = []

    /// The feed over a shard; made once for each loop, used on its thread.
    init(shard: HubShard) { self.shard = shard }

    /// Takes over what was published, and names the streams that it concerns.
    package func wokenUp(_ ready: inout [StreamID], now: StreamTime) {
        shard.collect(now: Moment(now)) { tag in
            if let stream = streams[tag] { ready.append(stream) }
        }
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
