/// What a daemon is doing, for metrics.
package struct DaemonFigures: Sendable, Hashable {
    /// Open connections.
    package var connections = 0
    /// Open streams.
    package var streams = 0
    /// Streams whose client does not take its bytes at the moment.
    package var blockedStreams = 0
    /// Connections accepted so far.
    package var acceptedConnections: UInt64 = 0
    /// Connections turned away so far, for a limit.
    package var refusedConnections: UInt64 = 0
    /// Requests that a handler answered so far.
    package var requests: UInt64 = 0
    /// Requests that the front end refused so far.
    package var refusedRequests: UInt64 = 0
    /// Bytes written to streams so far.
    package var streamBytes: UInt64 = 0

    /// Nothing done yet.
    package init() {}

    /// Adds what one shard counted; connections are counted for all shards together, elsewhere.
    mutating func add(_ shard: DaemonFigures) {
        streams += shard.streams
        blockedStreams += shard.blockedStreams
        requests &+= shard.requests
        refusedRequests &+= shard.refusedRequests
        streamBytes &+= shard.streamBytes
    }
}
