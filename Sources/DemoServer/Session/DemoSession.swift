internal import DequeModule
internal import TLCP

/// One session: its subscriptions, its sent and pending notifications, and the connection that it is bound to.
///
/// An event moves from the queue of a channel to the log of sent notifications, where it gets its number and its final
/// text, and from there to the connection. A numbered notification is never changed.
struct DemoSession: Sendable {
    /// The server's number for the session.
    let handle: SessionHandle
    /// The session ID that clients use.
    let id: SessionID
    /// The TLCP version of the client.
    let version: ProtocolVersion
    /// Diff formats that the client accepts.
    let diffs: DiffFormats
    /// Whether `CONS` is suppressed.
    let hidesBandwidth: Bool

    /// The connection; nil while unbound.
    var stream: StreamBinding?
    /// Subscriptions by the client's number.
    var subscriptions: [SubscriptionID: DemoSubscription] = [:]
    /// The messages of the client.
    var messages: MessageSequences
    /// The bandwidth limit.
    var bandwidth: BandwidthGate

    /// The numbered notifications.
    var log: ReplayBuffer
    /// The notifications at the end of the log that are not written yet.
    var unsent = Deque<[UInt8]>()
    /// Notifications of subscriptions and messages, not numbered yet.
    var outbox = Deque<[UInt8]>()
    /// Bytes in `outbox`.
    var outboxBytes = 0
    /// Channels that may have events to send, each at most once.
    var ready = Deque<ChannelReference>()
    /// Channels whose frequency limit delays their next event.
    var waiting = DeadlineQueue<ChannelReference>()
    /// The pause that was granted with the last poll.
    var pollingPause = Duration.zero
    /// Until when the session is kept without a connection; zero while it is bound.
    var expiry = Duration.zero

    /// A session that is not bound yet.
    init(
        handle: SessionHandle,
        id: SessionID,
        version: ProtocolVersion,
        diffs: DiffFormats,
        bandwidth: Double?,
        hidesBandwidth: Bool,
        configuration: DemoServerConfiguration
    ) {
        self.handle = handle
        self.id = id
        self.version = version
        self.diffs = diffs
        self.hidesBandwidth = hidesBandwidth
        self.bandwidth = BandwidthGate(requested: bandwidth, limits: configuration.limits)
        let limits = configuration.limits
        messages = MessageSequences(
            capacity: limits.waitingMessages,
            maxBytes: max(limits.pendingControl, limits.request * 2)
        )
        log = ReplayBuffer(maxBytes: configuration.limits.replay, maxAge: configuration.timings.recoveryTimeout)
    }

    /// Queues a notification that is not one of an item.
    mutating func notify(_ notification: ServerNotification, _ context: inout ServerContext) {
        var line = notification.encoded
        if case .msgDone(let sequence, let progressive, _) = notification, !version.hasResponses {
            line = Array("MSGDONE,\(sequence ?? "*"),\(progressive)\r\n".utf8)
        }
        outboxBytes += line.count
        outbox.append(line)
        // The client has not read for too long.
        if outboxBytes > context.configuration.limits.pendingControl {
            end(SessionEnd(code: 33, message: "Too much is waiting for this session"), &context)
        }
    }

    /// The client sent a request for this session, or a heartbeat.
    mutating func requestReceived(at now: Duration) {
        stream?.lastRequest = now
    }
}

/// Why a session was closed: the arguments of `END`.
package struct SessionEnd: Sendable, Hashable {
    /// A code of the session catalogue.
    package var code: Int
    /// A readable text.
    package var message: String

    /// An end from its parts.
    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}

/// The server's number for a session.
typealias SessionHandle = Int
