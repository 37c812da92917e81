internal import Primitives
internal import TLCP

/// The server without its sockets and its clock.
///
/// Every method is one event; it takes the time since the server's start and returns the actions for the listeners, in
/// order. `nextDeadline` is the instant at which `timePassed` has to be called at the latest.
package struct DemoServerMachine: ~Copyable {
    var context: ServerContext
    var sessions: [SessionHandle: DemoSession] = [:]
    var handles: [SessionID: SessionHandle] = [:]
    /// Sessions closed within `ServerTimings.tombstoneLife`, with the error for a late bind.
    var tombstones: [SessionHandle: Tombstone] = [:]
    /// The handles of those sessions by session ID.
    var closedHandles: [SessionID: SessionHandle] = [:]
    var feeds: FeedDirectory
    var channels = ChannelTable()
    let metadata: MetadataAdapter
    /// Responses delayed by a fault.
    var lateAnswers: [Int: LateAnswer] = [:]
    var lateAnswerCount = 0
    /// The number of delayed responses that an HTTP request still waits for.
    var pendingAnswers: [LinkID: Int] = [:]
    var devices: [String: String] = [:]
    /// The texts that take the place of other texts of messages.
    var responses: [String: String] = [:]
    /// The texts of the last accepted messages, oldest first; `DemoServerConfiguration.keptMessages` at most.
    package internal(set) var messages: [String] = []
    var messageCount = 0

    private var generator: SplitMix64
    private var lastHandle: SessionHandle = 0

    /// A closed session.
    struct Tombstone: Sendable {
        /// The session.
        var id: SessionID
        /// Why it was closed.
        var end: SessionEnd
    }

    /// A response delayed by a fault.
    struct LateAnswer: Sendable {
        /// The connection that it is written to.
        var link: LinkID
        /// The line.
        var line: [UInt8]
    }

    /// A server without connections.
    ///
    /// - Parameters:
    ///   - configuration: Data, limits and faults.
    ///   - clockStart: Milliseconds since 1970 at time zero, for the times in the data.
    ///   - identitySeed: Seed of the session IDs; nil takes the seed of the configuration, which
    ///     makes them predictable.
    package init(_ configuration: DemoServerConfiguration, clockStart: Int64 = 0, identitySeed: UInt64? = nil) {
        context = ServerContext(configuration)
        feeds = FeedDirectory(configuration, clockStart: clockStart)
        metadata = MetadataAdapter(configuration)
        generator = SplitMix64(seed: identitySeed ?? configuration.seed, part: "sessions")
        scheduleFeeds()
    }

    /// When `timePassed` has to be called at the latest; nil if there is no deadline.
    package var nextDeadline: Duration? {
        mutating get { context.timers.earliest }
    }

    /// The present counts.
    package var census: ServerCensus {
        var census = ServerCensus()
        census.sessions = sessions.count
        census.connections = context.links.links.count
        for session in sessions.values {
            census.subscriptions += session.subscriptions.count
            guard session.stream != nil else { continue }
            census.boundSessions += 1
            census.boundSubscriptions += session.subscriptions.count
        }
        census.notifications = context.notifications
        census.messages = messageCount
        return census
    }

    /// Finishes an event: removes the sessions that ended, and returns the actions.
    mutating func settle() -> [ServerAction] {
        while true {
            for (link, session) in context.links.takeLostStreams() {
                sessions[session]?.connectionBroke(link, &context)
            }
            let ended = context.ended
            context.ended.removeAll()
            for (session, end) in ended { close(session, end) }
            let actions = context.links.takeActions(at: context.now)
            // Writing may have cut a connection, which its session has to handle first.
            guard context.links.lostStreams.isEmpty, context.ended.isEmpty else {
                for action in actions { context.links.perform(action) }
                continue
            }
            return actions
        }
    }

    private mutating func close(_ handle: SessionHandle, _ end: SessionEnd?) {
        guard let session = sessions.removeValue(forKey: handle) else { return }
        handles[session.id] = nil
        devices[session.id.rawValue] = nil
        for subscription in session.subscriptions.values { channels.remove(subscription, of: handle) }
        for timer in session.messages.timers + [.keepalive, .sync, .inactivity, .poll, .pump, .expiry] {
            context.timers.cancel(.session(handle, timer))
        }
        guard let end else { return }
        tombstones[handle] = Tombstone(id: session.id, end: end)
        closedHandles[session.id] = handle
        context.timers.set(.tombstone(handle), at: context.now + context.configuration.timings.tombstoneLife)
    }

    /// Creates a session that is not bound yet.
    mutating func openSession(_ request: CreateSessionRequest, version: ProtocolVersion) -> SessionHandle {
        lastHandle += 1
        let hex = String(generator.next(), radix: 16) + String(generator.next(), radix: 16)
        let id = SessionID("S\(hex)T\(String(lastHandle))")
        sessions[lastHandle] = DemoSession(
            handle: lastHandle,
            id: id,
            version: version,
            diffs: version.hasDiffs ? request.supportedDiffs ?? .all : [],
            bandwidth: request.maxBandwidth,
            hidesBandwidth: request.connection.reducesHead,
            configuration: context.configuration
        )
        handles[id] = lastHandle
        return lastHandle
    }
}

/// An action of the listeners.
package enum ServerAction: Sendable, Equatable {
    /// Answer the HTTP request as a whole.
    case respond(LinkID, HTTPAnswer)
    /// Begin the response of an HTTP request: status 200, a body of unknown length whose parts follow.
    case openStream(LinkID)
    /// Write whole lines at once: a part of the HTTP body, or one text message.
    ///
    /// `isFragment`: the bytes end anywhere and the next write continues the same text message; only by a fault.
    case write(LinkID, [UInt8], isFragment: Bool = false)
    /// End the body of an HTTP stream; `closesSocket` also ends the connection.
    case endStream(LinkID, closesSocket: Bool)
    /// Close the WebSocket with a close frame of this code.
    case close(LinkID, code: Int)
    /// Break the connection without closing the protocol.
    case cut(LinkID)
    /// Read nothing more from the connection, and leave it open.
    case stopReading(LinkID)
}

/// The values that all sessions share during an event: the time, the connections, the timers, the installed faults.
struct ServerContext: Sendable {
    /// The configuration of the server.
    let configuration: DemoServerConfiguration
    /// The instant of the present event.
    var now = Duration.zero
    /// The deadlines of all sessions, connections and feeds.
    var timers = DeadlineQueue<TimerKey>()
    /// The connections.
    var links: LinkTable
    /// The installed faults.
    var faults = FaultPlan()
    /// Data notifications committed so far.
    var notifications = 0
    /// Sessions that ended in the present event, and the error for a late bind.
    var ended: [(session: SessionHandle, end: SessionEnd?)] = []

    /// An empty context.
    init(_ configuration: DemoServerConfiguration) {
        self.configuration = configuration
        links = LinkTable(seed: configuration.seed)
        for fault in configuration.faults { faults.install(fault) }
    }
}
