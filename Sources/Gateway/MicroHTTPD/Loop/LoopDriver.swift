internal import Primitives
internal import StreamIO

/// Runs libmicrohttpd and writes the streams of one shard, in turn, on one thread. Its state is confined to that
/// thread after the call of `run`, except for the scheduler (see `LoopTurn`); other threads use its `StreamLoop`.
final class LoopDriver {
    let loop: StreamLoop
    let configuration: DaemonConfiguration
    let handler: any HTTPHandler
    let ledger: ConnectionLedger
    var largeResponses: LargeResponses
    let scheduler: StreamScheduler
    let requestTimes: RequestTimes
    /// The date for heads that the loop writes itself.
    var date = HTTPDate()
    var figures = DaemonFigures()
    /// Responses close their connections, and no new ones are accepted.
    private(set) var isWindingDown = false
    /// Handlers get no further requests.
    private(set) var isClosing = false

    // Tokens of the poller. Streams have numbers below 2^63; waiting exchanges those from there; the listening
    // socket, the eventfd of the mailbox and the servers those from the top downwards.
    private static let listenerToken = UInt64.max
    private static let mailboxToken = listenerToken - 1

    private let poller: Poller
    private let makeFeed: Daemon.FeedMaker
    private let acceptor: Acceptor
    /// The last server accepts new connections; the earlier ones only serve their open connections.
    private var servers: [HTTPServer] = []
    private var serverCount: UInt64 = 0
    private var dueServers: Set<UInt64> = []
    let exchanges: Exchanges
    private(set) lazy var polls = PollingConnections(driver: self, poller: poller)
    private var pace: CollectionPace
    /// Whether the feed was due at the end of the last pass.
    private var isFeedDue = false
    /// Whether collected events may still have to be written.
    private var isCollected = false
    /// When connections, requests and their servers have to be looked at without an event. Set by such a pass,
    /// and to zero by a server with work that no event of its descriptor reports: a pass for events of the feed leaves them
    /// alone.
    var connectionsDue = Moment.zero
    private var drains: [(until: Moment, completion: @Sendable (Bool) -> Void)] = []

    /// A driver that listens; it serves after the call of `run`.
    ///
    /// - Parameter listener: Owned by the driver, also if this fails.
    init(
        loop: StreamLoop,
        configuration: DaemonConfiguration,
        handler: any HTTPHandler,
        ledger: ConnectionLedger,
        listener: ListeningSocket,
        makeFeed: @escaping Daemon.FeedMaker
    ) throws(DaemonError) {
        self.loop = loop
        self.configuration = configuration
        self.handler = handler
        self.ledger = ledger
        largeResponses = LargeResponses(ledger: ledger, budget: configuration.responseBudget)
        self.makeFeed = makeFeed
        pace = CollectionPace(flushInterval: configuration.flushInterval)
        let now = Moment.monotonic()
        do {
            poller = try Poller()
        } catch {
            listener.close()
            throw error
        }
        exchanges = Exchanges(poller: poller)
        scheduler = StreamScheduler(poller: poller, configuration: configuration, now: now)
        requestTimes = RequestTimes(configuration: configuration, now: now)
        acceptor = Acceptor(listener, token: Self.listenerToken, poller: poller, ledger: ledger) {
            handler.connectionsRefused(reason: $0)
        }
        do throws(DaemonError) {
            guard acceptor.begin(), poller.add(loop.mailbox.descriptor, token: Self.mailboxToken, .raised) else {
                throw DaemonError.systemRefused(SystemText.last())
            }
            try addServer(certificate: configuration.certificate)
        } catch {
            acceptor.close()
            throw error
        }
    }

    /// Serves until the message `close`.
    func run() {
        scheduler.feed = makeFeed(loop)
        // With a flush interval events are collected into larger writes, which only the loop makes.
        if configuration.flushInterval == .zero { loop.turn.offer(scheduler) }
        var waitTime: Int32 = 0
        while !isClosing {
            if waitTime != 0, !loop.mailbox.beginWait(feedIsDue: isFeedDue) { waitTime = 0 }
            poller.wait(milliseconds: waitTime)
            let hasMessages = loop.mailbox.endWait()
            loop.turn.state.withLock { _ in
                pass(hasMessages: hasMessages)
                waitTime = timeToWait()
            }
        }
        loop.turn.offer(nil)
        shutDown()
    }

    /// Handles all that has occurred, and writes to some of the streams.
    private func pass(hasMessages: Bool) {
        loop.passes.add(1, ordering: .relaxed)
        let now = Moment.monotonic()
        scheduler.advance(to: now)
        var isForFeed = false
        if !hasMessages, now < connectionsDue, poller.has(onlyToken: Self.mailboxToken) { isForFeed = true }
        if !isForFeed {
            requestTimes.advance(to: now)
            if acceptor.pausedUntil != nil { acceptor.advance(to: now) }
            if hasMessages {
                for message in loop.mailbox.take() { act(message) }
            }
            takeOccurrences(now)
        }
        takeFeed(now)
        if !isForFeed { runServers() }
        scheduler.serve()
        if isCollected, !scheduler.hasQueue {
            isCollected = false
            pace.wrote(until: Moment.monotonic())
        }
        loop.streamBytes.store(scheduler.output.total, ordering: .relaxed)
        if isForFeed, scheduler.count == figures.streams, scheduler.blockedCount == figures.blockedStreams { return }
        report(now)
        if !isForFeed { connectionsDue = connectionsDue(after: now) }
    }

    /// The time for which the loop may sleep, in milliseconds.
    private func timeToWait() -> Int32 {
        isFeedDue = loop.mailbox.isFeedDue
        if scheduler.hasQueue { return 0 }
        let collection = isFeedDue ? pace.next : .never
        let next = min(scheduler.nextTick.nanoseconds, connectionsDue.nanoseconds, collection.nanoseconds)
        if next == .max { return -1 }
        if next <= scheduler.now.nanoseconds { return 0 }
        let wait = next - Moment.monotonic().nanoseconds
        return wait <= 0 ? 0 : Int32(clamping: (wait - 1) / 1_000_000 + 1)
    }

    /// The earliest deadline of connections, requests, servers and drains.
    private func connectionsDue(after now: Moment) -> Moment {
        var due = Moment.never
        if let tick = requestTimes.nextTick { due = tick }
        if let pause = acceptor.pausedUntil { due = min(due, pause) }
        for server in servers {
            guard let milliseconds = server.timeout(at: now) else { continue }
            due = min(due, now.advanced(by: Int64(clamping: min(milliseconds, 1 << 40)) * 1_000_000))
        }
        for drain in drains { due = min(due, drain.until) }
        return due
    }

    private func takeOccurrences(_ now: Moment) {
        for index in 0..<poller.count {
            let occurrence = poller[index]
            if occurrence.token == Self.mailboxToken {
                continue
            } else if occurrence.token == Self.listenerToken {
                if let server = servers.last { acceptor.accept(into: server, now: now) }
            } else if occurrence.token > Self.mailboxToken - 1 - serverCount {
                dueServers.insert(occurrence.token)
            } else if occurrence.token >= Exchanges.firstToken {
                if !polls.noticed(occurrence.token, occurrence.events) { exchanges.abandon(occurrence.token) }
            } else {
                scheduler.noticed(StreamID(rawValue: occurrence.token), occurrence.events)
            }
        }
    }

    private func takeFeed(_ now: Moment) {
        guard scheduler.shared.isEmpty, loop.mailbox.isFeedDue, pace.collects(at: now) else { return }
        loop.mailbox.takeFeed()
        scheduler.askFeed()
        isCollected = true
    }

    private func runServers() {
        for server in servers {
            let isDue = dueServers.contains(server.token)
            if !isDue, server.timeout(at: scheduler.now) != 0 { continue }
            server.run(at: scheduler.now, isDue: isDue)
        }
        dueServers.removeAll(keepingCapacity: true)
        while servers.count > 1, let index = servers.dropLast().firstIndex(where: { $0.connections == 0 }) {
            remove(servers.remove(at: index))
        }
    }

    private func report(_ now: Moment) {
        figures.streams = scheduler.count
        figures.blockedStreams = scheduler.blockedCount
        loop.figures.withLock { $0 = figures }
        guard !drains.isEmpty else { return }
        let isQuiet = exchanges.open == 0 && scheduler.count == 0 && !polls.hasRequests
        drains.removeAll { drain in
            if isQuiet || drain.until <= now { drain.completion(isQuiet) }
            return isQuiet || drain.until <= now
        }
    }
}

/// Handles the messages of other threads.
extension LoopDriver {
    private func act(_ message: LoopMessage) {
        switch message {
        case .answer(let id, let answer):
            if let exchange = exchanges.take(id) {
                exchange.answer(answer)
            } else {
                answer.refuse()
            }
        case .answerAll(let id, let answer):
            polls.answer(id, answer)
        case .replaceCertificate(let certificate, let completion):
            completion(replace(certificate))
        case .stopAccepting:
            stopAccepting()
        case .drain(let moment, let completion):
            drains.append((moment, completion))
        case .close:
            isClosing = true
        }
    }

    private func addServer(certificate: DaemonConfiguration.Certificate?) throws(DaemonError) {
        serverCount += 1
        let server = try HTTPServer(driver: self, token: Self.mailboxToken - serverCount, certificate: certificate)
        guard poller.add(server.descriptor, token: server.token, .readable) else {
            server.stop()
            throw .systemRefused(SystemText.last())
        }
        servers.append(server)
    }

    private func replace(_ certificate: DaemonConfiguration.Certificate) -> DaemonError? {
        guard let present = servers.last, present.isSecure else { return .notSecure }
        // A reload of other settings: a further server would stay as long as a stream of the present one.
        if present.uses(certificate) { return nil }
        do {
            try addServer(certificate: certificate)
            return nil
        } catch {
            return error
        }
    }

    private func stopAccepting() {
        isWindingDown = true
        acceptor.close()
    }

    private func remove(_ server: HTTPServer) {
        poller.remove(server.descriptor)
        server.stop()
    }

    /// Ends all streams and servers, also of a driver that never ran. No connection may be suspended when the daemons of
    /// the library stop.
    func shutDown() {
        isClosing = true
        stopAccepting()
        scheduler.endAll(.daemonClosed)
        for exchange in exchanges.takeAll() {
            let response = exchange.record.response(to: .closing, on: exchange.connection)
            exchange.answer(.response(response))
        }
        polls.endAll()
        loop.mailbox.close()
        servers.forEach { $0.run(at: scheduler.now, isDue: true) }
        servers.forEach(remove)
        servers = []
        drains.forEach { $0.completion(true) }
        drains = []
        report(Moment.monotonic())
    }
}
