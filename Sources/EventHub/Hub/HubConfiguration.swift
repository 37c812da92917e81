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
