/// Configuration of an embedded TLCP server.
///
/// The default is a server with the adapter set and data of the public demos, on an ephemeral port of
/// the loopback address.
package struct DemoServerConfiguration: Sendable {
    package var host = "127.0.0.1"
    /// Port to listen on, 0…65535; with 0 the system chooses one, see `DemoServer.boundPort`.
    package var port = 0
    /// Path before `/lightstreamer`, such as `/push`; empty by default.
    package var pathPrefix = ""
    /// Seed of all pseudo-random values: feeds, session IDs, positions at which faults cut.
    package var seed: UInt64 = 2_147_483_647
    /// Names of the adapter set; any other is answered with session code 2.
    package var adapterSets: Set<String> = ["DEMO"]
    /// Users and their passwords; nil accepts any user, with or without a name.
    package var users: [String: String]?
    /// Text of `SERVNAME`.
    package var serverName = "Embedded demo server"
    /// Address sent as control link in `CONOK`; nil sends `*`, no link.
    package var controlLink: String?
    package var timings = ServerTimings()
    package var limits = ServerLimits()
    package var feeds = FeedConfiguration()
    /// Data adapters whose items change by `DemoServer.publish(_:to:)` only, by adapter name.
    package var manualFeeds: [String: ManualFeedConfiguration] = [:]
    /// Events that manual feeds publish at given times; nil for none.
    package var replay: ReplayConfiguration?
    /// The responses to mobile push requests.
    package var mobilePush = MobilePushPolicy.disabled
    /// Whether the whole response of an HTTP poll, `CONOK` included, waits until there is data.
    package var holdsPolls = false
    /// Faults that are installed from the start.
    package var faults: [Fault] = []
    /// Whether time passes only by `DemoServer.advance(by:)`: keepalives, timeouts, frequencies, feeds, faults.
    package var hasManualClock = false
    /// Number of accepted messages whose texts are kept for `DemoServer.messages()`.
    package var keptMessages = 0
    /// Whether clients may install faults, by messages `FAULT|…` and by `POST`/`DELETE /demo/faults`, and publish updates,
    /// by `POST /v1/updates`.
    ///
    /// Faults are a `FaultScript`, updates are `InjectedUpdate`s. For tests that run in another process; off by default.
    package var acceptsFaultsFromClients = false

    package init() {}
}

/// Intervals and time limits of the server; the defaults are typical of production servers.
package struct ServerTimings: Sendable, Hashable {
    /// Keepalive interval granted to clients that request none.
    package var keepalive = Duration.seconds(5)
    /// Bounds of the keepalive interval that a client may request.
    package var keepaliveBounds = Duration.seconds(1)...Duration.seconds(30)
    /// Longest time for which a poll waits for data.
    package var maxIdle = Duration.seconds(30)
    /// Longest pause between two polls that is granted.
    package var maxPollingInterval = Duration.seconds(15)
    /// Time for which a poll that has data collects more before the answer.
    package var pollGathering = Duration.milliseconds(5)
    /// Time after which an unbound session is closed following a clean `LOOP`; the granted polling interval is added.
    package var sessionTimeout = Duration.seconds(10)
    /// Time after which a session whose connection broke is closed, and age up to which sent notifications are kept for
    /// recovery.
    package var recoveryTimeout = Duration.seconds(13)
    /// Time for which the cause of closing is kept for late binds to a closed session.
    package var tombstoneLife = Duration.seconds(10)
    /// Longest, and default, time for which a message waits for missing earlier messages of its sequence.
    package var maxMessageWait = Duration.seconds(30)
    /// Time after a streaming bind at which the first `SYNC` is sent.
    package var firstSync = Duration.seconds(4)
    /// Time between the following `SYNC`s.
    package var syncPeriod = Duration.seconds(15)
    /// Time granted beyond `LS_inactivity_millis` before the stream is ended by `LOOP`.
    package var inactivityGrace = Duration.seconds(5)
    /// Time after which a silent WebSocket without a bound session is closed.
    package var idleSocket = Duration.seconds(60)
    /// Time after which an HTTP connection without a request is closed.
    package var idleHTTP = Duration.seconds(60)
    /// Time within which a request must be complete.
    package var slowRequest = Duration.seconds(15)
    /// Time after which a connection whose peer accepts no bytes is cut.
    package var stuckWrite = Duration.seconds(20)

    package init() {}
}

package struct ServerLimits: Sendable, Hashable {
    /// Greatest accepted request in bytes: an HTTP body or a WebSocket message; sent in `CONOK`.
    package var request = 50_000
    /// Content length after which an HTTP stream is ended by `LOOP`, unless the client requests another.
    package var contentLength = 4_000_000
    /// Smallest content length that a client may request; below it the default is used.
    package var minContentLength = 4_096
    /// Bytes of `NOOP` lines at the head of an HTTP stream.
    package var padding = 2_048
    /// Greatest buffer of pending events per item; also the greatest length of a DISTINCT snapshot.
    package var bufferSize = 1_000
    /// Greatest frequency granted, in updates per second and item; nil sets no limit.
    package var frequency: Double?
    /// Greatest bandwidth granted to a session, in kbit/s; nil sets no limit.
    package var bandwidth: Double?
    /// Whether the bandwidth cannot be limited by clients: `CONS,unmanaged`.
    package var bandwidthUnmanaged = false
    /// Bytes of sent notifications kept per session for recovery.
    package var replay = 4 << 20
    /// Bytes of session notifications queued while no connection takes them.
    package var pendingControl = 1 << 20
    /// Concurrent sessions; beyond it creation is answered with session code 8.
    package var sessions = 10_000
    /// Concurrent connections; beyond it new connections are closed at once.
    package var connections = 20_000
    /// Subscriptions of one session; beyond it `add` is answered with code 30.
    package var subscriptions = 10_000
    /// Items of one subscription; beyond it `add` is answered with code 21.
    package var itemsPerSubscription = 1_000
    /// Items of all subscriptions of all sessions together; beyond it `add` is answered with code 30.
    package var items = 500_000
    /// Messages of one session that wait for earlier messages; beyond it `msg` is answered with code 34.
    package var waitingMessages = 1_000
    /// Bytes written but not yet accepted by the peer above which a connection is not writable.
    package var writeBuffer = 1 << 18

    package init() {}
}
