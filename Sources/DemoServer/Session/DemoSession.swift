internal import TLCP

/// One session: what it is subscribed to, what was sent and what waits, and the connection it is bound to.
///
/// An event walks from a channel's queue to the log of sent notifications, where it gets its number and its final text,
/// and from there to the connection. What was numbered is only ever sent as it is.
struct DemoSession: Sendable {
    /// The server's own number for it.
    let handle: SessionHandle
    /// The number that clients know.
    let id: SessionID
    /// The TLCP version that the client speaks.
    let version: ProtocolVersion
    /// Diff formats that the client takes.
    let diffs: DiffFormats
    /// Whether the client wants to hear nothing about bandwidth.
    let hidesBandwidth: Bool

    /// The connection; nil while unbound.
    var stream: StreamBinding?
    /// Subscriptions by the client's number.
    var subscriptions: [SubscriptionID: DemoSubscription] = [:]
    /// Messages.
    var messages: MessageSequences
    /// When bytes may go.
    var bandwidth: BandwidthGate

    /// What was numbered.
    var log: ReplayBuffer
    /// What was numbered but not written since; the end of the log.
    var unsent = Fifo<[UInt8]>()
    /// Lines about subscriptions and messages as a whole, not numbered yet.
    var outbox = Fifo<[UInt8]>()
    /// Bytes in `outbox`.
    var outboxBytes = 0
    /// Channels that may have something to send, each at most once.
    var ready = Fifo<ChannelReference>()
    /// Channels that may send again later.
    var waiting = DeadlineQueue<ChannelReference>()
    /// The pause that was granted with the last poll.
    var pollingPause = Duration.zero

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

    /// Queues a notification that is not about a single item.
    mutating func notify(_ notification: ServerNotification, _ context: inout ServerContext) {
        var line = notification.encoded
        if case .msgDone(let sequence, let progressive, _) = notification, !version.hasResponses {
            line = Array("MSGDONE,\(sequence ?? "*"),\(progressive)\r\n".utf8)
        }
        outboxBytes += line.count
        outbox.append(line)
        // A client that lets so much pile up is not coming back for it.
        if outboxBytes > context.configuration.limits.pendingControl {
            end(SessionEnd(code: 33, message: "Too much is waiting for this session"), &context)
        }
    }

    /// The client sent a request for this session, or a heartbeat.
    mutating func heard(at now: Duration) {
        stream?.lastRequest = now
    }
}

/// Why a session was closed: the arguments of `END`.
package struct SessionEnd: Sendable, Hashable {
    /// A code of the session catalogue.
    package var code: Int
    /// A text for people.
    package var message: String

    /// The end from its arguments.
    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }
}

/// The server's number for a session.
typealias SessionHandle = Int
