internal import TLCP

/// The whole server but for its sockets and its clock: requests and the passing of time in, orders for listeners out.
///
/// Every method is one event; it gets the time since the server's start and returns what the listeners have to do, in
/// that order. After each event `nextDeadline` tells when `timePassed` has to be called at the latest.
package struct DemoServerMachine: ~Copyable {
    var context: ServerContext
    var sessions: [SessionHandle: DemoSession] = [:]
    var handles: [SessionID: SessionHandle] = [:]
    /// Sessions closed a short while ago, with the error for a late bind.
    var tombstones: [SessionHandle: Tombstone] = [:]
    /// The closed sessions by the number that clients know.
    var buried: [SessionID: SessionHandle] = [:]
    var feeds: FeedDirectory
    var routes = RouteTable()
    let metadata: MetadataAdapter
    /// Answers that are late on purpose.
    var lateAnswers: [Int: LateAnswer] = [:]
    var lateAnswerCount = 0
    /// How many late answers an HTTP request still waits for.
    var owedAnswers: [LinkID: Int] = [:]
    var devices: [String: String] = [:]

    private var generator: SeededGenerator
    private var lastHandle: SessionHandle = 0

    /// A closed session.
    struct Tombstone: Sendable {
        /// The session.
        var id: SessionID
        /// Why it was closed.
        var farewell: SessionEnd
    }

    /// An answer that is late on purpose.
    struct LateAnswer: Sendable {
        /// Where it goes.
        var link: LinkID
        /// The line.
        var line: [UInt8]
    }

    /// A server without connections.
    ///
    /// - Parameters:
    ///   - configuration: What it serves.
    ///   - clockStart: Milliseconds since 1970 at time zero, for the times in the data.
    ///   - identitySeed: Decides the session IDs; unguessable where that matters.
    package init(_ configuration: DemoServerConfiguration, clockStart: Int64 = 0, identitySeed: UInt64? = nil) {
        context = ServerContext(configuration)
        feeds = FeedDirectory(configuration, clockStart: clockStart)
        metadata = MetadataAdapter(configuration)
        generator = SeededGenerator(seed: identitySeed ?? configuration.seed, part: "sessions")
        scheduleFeeds()
    }

    /// When `timePassed` has to be called at the latest; nil if nothing is due by itself.
    package var nextDeadline: Duration? {
        mutating get { context.timers.earliest }
    }

    /// How much the server holds.
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
        return census
    }

    /// Finishes an event: sessions that ended go, and what is to be done comes out.
    mutating func settle() -> [ServerAction] {
        while true {
            for (link, session) in context.links.takeLostStreams() {
                sessions[session]?.connectionBroke(link, &context)
            }
            let ended = context.ended
            context.ended.removeAll()
            for (session, farewell) in ended { bury(session, farewell) }
            let actions = context.links.takeActions(at: context.now)
            // Writing may have cut a connection, of which its session has to hear.
            guard context.links.lostStreams.isEmpty, context.ended.isEmpty else {
                for action in actions { context.links.perform(action) }
                continue
            }
            return actions
        }
    }

    private mutating func bury(_ handle: SessionHandle, _ farewell: SessionEnd?) {
        guard let session = sessions.removeValue(forKey: handle) else { return }
        handles[session.id] = nil
        devices[session.id.rawValue] = nil
        for subscription in session.subscriptions.values { routes.remove(subscription, of: handle) }
        for timer in session.messages.timers + [.keepalive, .sync, .inactivity, .poll, .pump, .expiry] {
            context.timers.cancel(.session(handle, timer))
        }
        guard let farewell else { return }
        tombstones[handle] = Tombstone(id: session.id, farewell: farewell)
        buried[session.id] = handle
        context.timers.set(.tombstone(handle), at: context.now + context.configuration.timings.tombstoneLife)
    }

    /// Makes a session that is not bound yet.
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

/// What the listeners have to do.
package enum ServerAction: Sendable, Equatable {
    /// Answer the HTTP request as a whole.
    case respond(LinkID, HTTPAnswer)
    /// Begin the response of an HTTP request: status 200, a body of unknown length whose parts follow.
    case openStream(LinkID)
    /// Write whole lines at once: a part of the HTTP body, or one text message.
    ///
    /// `isFragment`: the bytes end anywhere, the next write goes on in the same text message; only by a fault.
    case write(LinkID, [UInt8], isFragment: Bool = false)
    /// End the body of an HTTP stream; `closesSocket` also ends the connection.
    case endStream(LinkID, closesSocket: Bool)
    /// Close the WebSocket with a close frame of this code.
    case close(LinkID, code: Int)
    /// Break the connection without a goodbye.
    case cut(LinkID)
    /// Read no more from the connection, and leave it open.
    case stopReading(LinkID)
}

/// What all sessions share while an event is dealt with: the time, the connections, the timers, the faults in place.
struct ServerContext: Sendable {
    /// What the server was made with.
    let configuration: DemoServerConfiguration
    /// The instant of the present event.
    var now = Duration.zero
    /// What becomes due when.
    var timers = DeadlineQueue<TimerKey>()
    /// The connections.
    var links: LinkTable
    /// What goes wrong next.
    var faults = FaultPlan()
    /// Data notifications committed so far.
    var notifications = 0
    /// Sessions that ended in the present event, and the error for a late bind.
    var ended: [(session: SessionHandle, farewell: SessionEnd?)] = []

    /// An empty context.
    init(_ configuration: DemoServerConfiguration) {
        self.configuration = configuration
        links = LinkTable(seed: configuration.seed)
        for fault in configuration.faults { faults.install(fault) }
    }
}
