/// Intervals and time limits of the server; the defaults are typical of production servers.
package struct ServerTimings: Sendable, Hashable {
    /// Keepalive interval granted when the client asks for none.
    package var keepalive = Duration.seconds(5)

    /// Bounds of the keepalive interval that a client may ask for.
    package var keepaliveBounds = Duration.seconds(1)...Duration.seconds(30)

    /// Longest time for which a poll waits for data.
    package var maxIdle = Duration.seconds(30)

    /// Longest pause between two polls that is granted.
    package var maxPollingInterval = Duration.seconds(15)

    /// Time for which a poll that has data gathers more before it answers.
    package var pollGathering = Duration.milliseconds(5)

    /// Life of a session that is bound to no connection after a clean `LOOP`; the granted polling interval is added.
    package var sessionTimeout = Duration.seconds(10)

    /// Life of a session after its connection broke, and age up to which sent notifications are kept for replay.
    package var recoveryTimeout = Duration.seconds(13)

    /// How long a closed session is remembered, so that a late bind learns why it was closed.
    package var tombstoneLife = Duration.seconds(10)

    /// Longest, and default, time for which a message waits for missing earlier ones of its sequence.
    package var maxMessageWait = Duration.seconds(30)

    /// Time after a streaming bind at which the first `SYNC` is sent.
    package var firstSync = Duration.seconds(4)

    /// Time between the following `SYNC`s.
    package var syncPeriod = Duration.seconds(15)

    /// Time granted beyond `LS_inactivity_millis` before the stream is ended by `LOOP`.
    package var inactivityGrace = Duration.seconds(5)

    /// Life of a WebSocket that no session is bound to and on which nothing arrives.
    package var idleSocket = Duration.seconds(60)

    /// Life of an HTTP connection between two requests.
    package var idleHTTP = Duration.seconds(60)

    /// Time within which a request must have arrived as a whole.
    package var slowRequest = Duration.seconds(15)

    /// Time after which a connection that takes no more bytes is cut.
    package var stuckWrite = Duration.seconds(20)

    /// Typical timings.
    package init() {}
}
