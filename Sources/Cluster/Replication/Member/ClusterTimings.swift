/// The timeouts of a member. None of them affects order or ownership.
package struct ClusterTimings: Sendable, Equatable {
    /// The time between heartbeats.
    package var heartbeat = Duration.milliseconds(500)
    /// The maximum age of the newest heartbeat that was received back, for the engine to count as reachable.
    package var echoTimeout = Duration.seconds(1)
    /// The time without a heartbeat of its own after which a member opens another connection.
    package var silence = Duration.seconds(4)
    /// The time without heartbeats after which a member is removed.
    package var suspect = Duration.milliseconds(1500)
    /// How long after the beginning of an epoch members may report their resources again.
    package var reporting = Duration.milliseconds(1500)
    /// The additional time that each further member waits before it removes a silent one.
    package var rankDelay = Duration.milliseconds(500)
    /// The time after which a frame that is not in the log is sent again.
    package var resend = Duration.seconds(1)
    /// The time after which a missing position is fetched.
    package var fetchDelay = Duration.milliseconds(50)
    /// The time after which a frame counts as lost that the engine does not have, and after which the log is inspected if a frame
    /// in flight, or the state of the cluster, has not arrived.
    package var lost = Duration.seconds(3)
    /// How long a joining member waits for a reply, and how many requests it sends before it begins an epoch.
    package var requestInterval = Duration.milliseconds(500)
    package var requestCount = 3
    /// How long a joining member continues to send requests while it receives heartbeats.
    package var loading = Duration.seconds(10)
    /// How long a joining member reads the log for its windows of recent events before it continues without them.
    package var replay = Duration.seconds(2)
    /// How long the log keeps frames.
    package var window = Duration.seconds(60)
    /// How long the interest of a member in a shared subscription lasts after its last local reader, and how long the owner
    /// keeps the subscription after the last interest in it.
    package var linger = Duration.seconds(5)

    package init() {}
}
