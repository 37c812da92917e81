/// Sizes and counts that bound what clients can make the server hold.
package struct ServerLimits: Sendable, Hashable {
    /// Greatest accepted request in bytes: an HTTP body or a WebSocket message; sent in `CONOK`.
    package var request = 50_000

    /// Body size after which an HTTP connection is ended by `LOOP`, where the client names none.
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
