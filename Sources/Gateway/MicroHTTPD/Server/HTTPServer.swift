internal import CMicroHTTPD
internal import Glibc
internal import Primitives

/// One libmicrohttpd daemon inside a loop: it parses requests, applies limits and answers. The daemon has no thread:
/// the loop runs it and accepts its connections. A loop has one server, and for a while an older one beside it after
/// its certificate was replaced. Confined to the loop's thread.
final class HTTPServer {
    /// The loop, which outlives its servers.
    unowned let driver: LoopDriver
    /// The token of the server's descriptor.
    let token: UInt64
    let isSecure: Bool
    /// Readable when the library has work.
    private(set) var descriptor: Int32 = -1
    private(set) var connections = 0
    /// Connections that were added and that the library has not reported yet, by descriptor.
    private var added: [Int32: ConnectionPlace] = [:]
    /// Whether a connection was added or resumed, which the library's own timeout does not include.
    private var hasWork = false
    /// Requests whose chunked body is being received, by id.
    private var chunkedBodies: [UInt64: Exchange] = [:]
    /// Encrypted connections that have not sent a request yet.
    private var handshakes = 0
    /// Responses that are being sent, streams excepted.
    private var responses = 0
    /// When a response was being sent last.
    private var lastResponding = Moment.zero
    /// Whether the present run has read a part of a request.
    private var hasAdvanced = false
    private var retries = RetryPace()
    /// The longest pause within a chunked body while the library retries.
    private static let longestPause = Duration.seconds(1)
    /// The time for which responses are sent in a run that has a pace: a quarter of the least time between two such runs.
    private static let retryLength = Duration.microseconds(250)
    private var daemon: OpaquePointer?
    // The library keeps the pointers, so the text must not move; freed in `stop`.
    private var certificate: UnsafeMutablePointer<CChar>?
    private var key: UnsafeMutablePointer<CChar>?

    /// Starts a daemon without connections.
    init(driver: LoopDriver, token: UInt64, certificate: DaemonConfiguration.Certificate?) throws(DaemonError) {
        self.driver = driver
        self.token = token
        isSecure = certificate != nil
        self.certificate = certificate.flatMap { strdup($0.chain) }
        key = certificate.flatMap { strdup($0.key) }

        let limits = driver.configuration
        var settings = cmhd_settings()
        // The ledger limits the connections of all shards; the library's own limit must not be lower.
        settings.connection_limit = UInt32(clamping: limits.connectionLimit + limits.connectionReserve) &+ 16
        settings.connection_memory = limits.connectionMemory
        settings.idle_seconds = UInt32(clamping: limits.idleTimeout.components.seconds)
        settings.certificate = UnsafePointer(self.certificate)
        settings.key = UnsafePointer(key)
        settings.context = HTTPServerBox.pass(self)
        settings.connection = connectionCallback
        settings.request_line = requestLineCallback
        settings.access = accessCallback
        settings.completed = completedCallback
        settings.unescape = unescapeCallback
        daemon = cmhd_start(&settings)
        guard let daemon else {
            freeTexts()
            throw .startRefused
        }
        descriptor = cmhd_epoll_descriptor(daemon)
    }

    deinit { assert(daemon == nil, "a server has to be stopped") }

    /// Runs the library until it has no more work.
    ///
    /// - Parameter isDue: Whether the descriptor is readable.
    func run(at now: Moment, isDue: Bool) {
        guard let daemon else { return }
        var retry: Moment?
        if !isDue, !hasWork, mayRetry { retry = Moment.monotonic() }
        if handshakes > 0 {
            if retry == nil { retries.reset(at: now) }
            hasAdvanced = false
        }
        if responses > 0 { lastResponding = now }
        for _ in 0..<64 {
            hasWork = false
            MHD_run(daemon)
            // Each run sends one record of an encrypted response.
            if let retry, isSecure, responses > 0, Moment.monotonic() - retry < Self.retryLength { continue }
            if !hasWork, !isReadable { break }
        }
        if let retry {
            // A handshake that waits for its client goes on with an event of the descriptor, not with another run.
            let isIdle = handshakes > 0 && chunkedBodies.isEmpty && responses == 0 && !hasAdvanced
            retries.note(at: retry, duration: Moment.monotonic() - retry, isIdle: isIdle)
            // The library also retries for encrypted responses, once more after their ends.
            let isResponding = isSecure && now < lastResponding + Self.longestPause
            if handshakes == 0, !isResponding, !retries.permits(at: now) { closePaused(at: now) }
        }
    }

    /// Milliseconds until `run` is due although the descriptor is not readable; nil if it is not.
    ///
    /// Runs that version 0.9.75 of the library asks for without end have a pace; see `mayRetry`.
    func timeout(at now: Moment) -> UInt64? {
        guard let daemon else { return nil }
        if hasWork { return 0 }
        var milliseconds: UInt64 = 0
        guard MHD_get_timeout(daemon, &milliseconds) == .YES else { return nil }
        if milliseconds == 0, mayRetry, !retries.permits(at: now) {
            return UInt64(clamping: retries.wait(at: now).clampedNanoseconds / 1_000_000) + 1
        }
        return milliseconds
    }

    /// Resumes the suspended connection of an exchange, which continues in the next `run`. The caller must not touch the
    /// connection or its descriptor afterwards.
    func resume(_ exchange: Exchange) {
        hasWork = true
        driver.connectionsDue = .zero
        MHD_resume_connection(exchange.connection)
    }

    /// Passes an accepted socket to the library, which closes it, also if this fails.
    func add(_ socket: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ place: ConnectionPlace) {
        added[socket] = place
        hasWork = true
        driver.connectionsDue = .zero
        let isAdded = MHD_add_connection(daemon, socket, address, length)
        if isAdded == .NO, let place = added.removeValue(forKey: socket) { driver.ledger.release(place) }
    }

    /// Whether the connections have this certificate and key.
    func uses(_ other: DaemonConfiguration.Certificate) -> Bool {
        guard let certificate, let key else { return false }
        return strcmp(certificate, other.chain) == 0 && strcmp(key, other.key) == 0
    }

    /// Closes all connections and frees the daemon. No connection may be suspended.
    func stop() {
        guard let daemon else { return }
        MHD_stop_daemon(daemon)
        self.daemon = nil
        freeTexts()
    }

    /// Whether version 0.9.75 of the library may ask for runs without end in which it does nothing. It does while the
    /// line before a chunk is longer than the memory of its connection, since it neither reads on nor closes the connection,
    /// and while a TLS handshake waits for its client. Encrypted responses need runs as well: therefore a run with a pace
    /// sends several records.
    private var mayRetry: Bool {
        if handshakes > 0 { return true }
        return !chunkedBodies.isEmpty
    }

    /// Shuts down the connections of which one is the cause of the retries. The library detects that and closes them.
    private func closePaused(at now: Moment) {
        for exchange in chunkedBodies.values where exchange.partTime + Self.longestPause <= now {
            shutdown(exchange.record.descriptor, Int32(SHUT_RDWR))
        }
    }

    private var isReadable: Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&question, 1, 0) == 1
    }

    private func freeTexts() {
        free(certificate)
        free(key)
        certificate = nil
        key = nil
    }
}

/// The start and end of a connection and of a request, as the library reports them, and the response between both.
extension HTTPServer {
    /// The library reports a new connection. Returns its record; nil if the loop did not add the connection.
    func started(_ connection: OpaquePointer) -> ConnectionRecord? {
        guard let place = added.removeValue(forKey: cmhd_descriptor(connection)) else { return nil }
        connections += 1
        let record = driver.requestTimes.add(place, of: self)
        driver.ledger.requestAwaited(on: place)
        if isSecure {
            record.isHandshaking = true
            handshakes += 1
        }
        return record
    }

    /// A connection has been closed, or its socket taken.
    func closed(_ record: ConnectionRecord) {
        connections -= 1
        handshakeEnded(record)
        driver.requestTimes.remove(record)
        if !record.isTakenOver { driver.ledger.release(record.place) }
    }

    func requestBegan(target: TargetText, _ connection: OpaquePointer, _ record: ConnectionRecord) -> Exchange {
        record.hasNamelessLine = false
        if record.isHandshaking { handshakeEnded(record) }
        driver.requestTimes.requestBegan(record)
        return driver.exchanges.begin(on: self, target: target, connection, record)
    }

    /// Whether all bytes of a client were read, and the client has closed its side.
    static func hasEnded(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) == 0
    }

    /// How many bytes were read from a connection in all; -1 if the system does not tell.
    static func readCount(of descriptor: Int32) -> Int64 { cmhd_read_count(descriptor) }

    private func handshakeEnded(_ record: ConnectionRecord) {
        guard record.isHandshaking else { return }
        record.isHandshaking = false
        handshakes -= 1
    }

    func chunksBegan(_ exchange: Exchange) { chunkedBodies[exchange.id] = exchange }

    func chunksEnded(_ exchange: Exchange) { chunkedBodies[exchange.id] = nil }

    /// One call of the access callback; `part` is a part of the body, or empty.
    func advance(
        _ exchange: Exchange,
        method: UnsafePointer<CChar>,
        version: UnsafePointer<CChar>,
        part: UnsafeRawBufferPointer
    ) -> MHD_Result {
        exchange.partTime = driver.scheduler.now
        hasAdvanced = true
        switch exchange.phase {
        case .head:
            return exchange.headArrived(method: method, version: version)
        case .body:
            return part.isEmpty ? exchange.requestArrived() : exchange.bodyArrived(part)
        case .discarding(let response):
            guard part.isEmpty else { return exchange.discard(part.count) }
            chunksEnded(exchange)
            return queue(response, for: exchange)
        case .answering(let response):
            return queue(response, for: exchange)
        case .waiting, .streaming:
            return .YES
        case .over:
            return .NO
        }
    }

    /// Queues a response in the library; inside the access callback only.
    func queue(_ response: HTTPResponse, for exchange: Exchange) -> MHD_Result {
        exchange.phase = .over
        let size = response.body.count
        if size >= LargeResponses.leastSize,
            !driver.largeResponses.begin(exchange, response.body, of: response.caller)
        {
            return queue(exchange.record.response(to: .responseBudgetExceeded, on: exchange.connection), for: exchange)
        }
        if !exchange.isResponding { responses += 1 }
        exchange.isResponding = true
        lastResponding = driver.scheduler.now
        driver.requestTimes.responseBegan(exchange.record, size: size)
        if driver.isWindingDown { exchange.isLastOnConnection = true }
        guard let made = response.makeForLibrary() else { return .NO }
        defer { MHD_destroy_response(made) }
        response.headers.addLines(to: made, closing: exchange.isLastOnConnection)
        exchange.record.isQueueing = true
        defer { exchange.record.isQueueing = false }
        return MHD_queue_response(exchange.connection, response.sendableStatus, made)
    }

    func completed(_ exchange: Exchange) {
        if !chunkedBodies.isEmpty { chunkedBodies[exchange.id] = nil }
        if exchange.isResponding { responses -= 1 }
        if exchange.reservedBytes > 0 {
            driver.ledger.releaseBody(exchange.reservedBytes, on: exchange.record.place, of: exchange.bodyCaller)
        }
        if exchange.heldResponse != nil { driver.largeResponses.end(exchange) }
        driver.requestTimes.requestEnded(exchange.record)
        driver.exchanges.end(exchange)
        exchange.record.knownHead = nil
        if exchange.hasSharedWait { driver.polls.firstRequestEnded(exchange.id) }
    }
}
