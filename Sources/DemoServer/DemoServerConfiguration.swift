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
