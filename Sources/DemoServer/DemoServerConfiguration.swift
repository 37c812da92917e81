/// Everything about an embedded TLCP server that can be set before it runs.
///
/// The defaults make a server with the public demos' adapter set and data, on an ephemeral port of the loopback address.
package struct DemoServerConfiguration: Sendable {
    /// Address to listen on.
    package var host = "127.0.0.1"

    /// Port to listen on, 0…65535; 0 lets the system choose one, see `DemoServer.boundPort`.
    package var port = 0

    /// Path before `/lightstreamer`, such as `/push`; empty by default.
    package var pathPrefix = ""

    /// Seed of everything that looks random: feeds, session IDs, positions at which faults cut.
    package var seed: UInt64 = 2_147_483_647

    /// Names under which the adapter set is found; any other is answered with session code 2.
    package var adapterSets: Set<String> = ["DEMO"]

    /// Users and their passwords; nil lets everybody in, with any name or none.
    package var users: [String: String]?

    /// Text of `SERVNAME`.
    package var serverName = "Embedded demo server"

    /// Address sent as control link in `CONOK`; nil stands for `*`, no link.
    package var controlLink: String?

    /// Intervals and time limits.
    package var timings = ServerTimings()

    /// Sizes and counts that bound what a client can make the server hold.
    package var limits = ServerLimits()

    /// What the built-in feeds publish and how fast.
    package var feeds = FeedConfiguration()

    /// Data adapters driven by hand through `DemoServer.publish(_:to:)`, by adapter name.
    package var manualFeeds: [String: ManualFeedConfiguration] = [:]

    /// How the server treats mobile push requests.
    package var mobilePush = MobilePushPolicy.disabled

    /// Whether the response of an HTTP poll that waits for data is held back until there are some, `CONOK` included.
    package var holdsPolls = false

    /// Misbehaviour that is in place from the start.
    package var faults: [Fault] = []

    /// Whether clients may script misbehaviour themselves: by messages `FAULT|…` and by `POST`/`DELETE /demo/faults`.
    ///
    /// The text of both is that of `FaultScript`. For tests that run outside of this process; off by default.
    package var acceptsFaultsFromClients = false

    /// The default configuration.
    package init() {}
}

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

/// Sizes and counts that bound what clients can make the server hold.
package struct ServerLimits: Sendable, Hashable {
    /// Greatest accepted request in bytes: an HTTP body or a WebSocket message; sent in `CONOK`.
    package var request = 50_000

    /// State size after which an HTTP connection is ended by `LOOP`, where the client names none.
    package var contentLength = 4_000_000

    /// Smallest content length that a client may ask for; below it the default is used.
    package var minContentLength = 4_096

    /// Bytes of `NOOP` lines at the head of an HTTP stream.
    package var padding = 2_048

    /// Greatest buffer of pending events per item; also the greatest length of a DISTINCT snapshot.
    package var bufferSize = 1_000

    /// Greatest frequency granted, in updates per second and item; nil sets no limit.
    package var frequency: Double?

    /// Greatest bandwidth granted to a session, in kbit/s; nil sets no limit.
    package var bandwidth: Double?

    /// Whether clients may not limit the bandwidth at all: `CONS,unmanaged`.
    package var bandwidthUnmanaged = false

    /// Bytes of sent notifications kept per session for replay.
    package var replay = 4 << 20

    /// Bytes of session notifications held for a session while no connection takes them.
    package var pendingControl = 1 << 20

    /// Sessions at a time; beyond it creation is answered with session code 8.
    package var sessions = 10_000

    /// Connections at a time; beyond it new ones are closed at once.
    package var connections = 20_000

    /// Subscriptions of one session; beyond it `add` is answered with code 30.
    package var subscriptions = 10_000

    /// Items of one subscription; beyond it `add` is answered with code 21.
    package var itemsPerSubscription = 1_000

    /// Items of all subscriptions of all sessions together; beyond it `add` is answered with code 30.
    package var items = 500_000

    /// Messages of one session that wait for earlier ones; beyond it `msg` is answered with code 34.
    package var waitingMessages = 1_000

    /// Bytes written but not yet taken by the peer above which a connection counts as not writable.
    package var writeBuffer = 1 << 18

    /// Typical limits.
    package init() {}
}
