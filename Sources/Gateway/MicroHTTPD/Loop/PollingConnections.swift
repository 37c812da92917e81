internal import CMicroHTTPD
internal import Glibc
internal import Primitives
internal import StreamIO

/// The connections of clients that repeat long polls, with the waits that equal polls share. The loop has their sockets:
///
///     library:  request waits ── its answer equals the one before ──▶ the loop takes the socket and sends the answer
///     loop:     next request ─┬─ bytes equal those of a request that waits: joins its wait ──▶ shared answer, next request
///                             └─ other bytes: the library gets the socket back, unread, and parses the request
///
/// A joined poll costs two `recv` and one `send`; the library has no part in it. See the decision record *SharedPolls*.
/// Confined to the loop's thread.
final class PollingConnections {
    /// A longer head is never joined.
    private static let mostHeadBytes = 8192
    /// The credit that the return of a connection costs.
    private static let costOfReturn = 8
    private static let mostCredit = 10_000

    private unowned let driver: LoopDriver
    private let poller: Poller
    /// By the token of the poller: the token that the exchange had whose connection was taken.
    private var connections: [UInt64: PollingConnection] = [:]
    /// The shared waits, by the ids of the exchanges that began them.
    private var waits: [UInt64: PollGroup] = [:]
    private var waitsByHead: [[UInt8]: PollGroup] = [:]
    /// The wait that was joined last.
    private var latest: PollGroup?
    /// The tag of the last response to a request that may be repeated.
    private var lastTag: String?
    /// Equal answers and joined polls earn credit, a returned connection costs some, and without any no connection is
    /// taken: polls that only seem equal, for example with different credentials, stay in the library.
    private var credit = 0
    private let output = StreamOutput()
    /// One byte longer than a head that is joined, so that bytes behind such a head are seen.
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: mostHeadBytes + 1, alignment: 16)

    init(driver: LoopDriver, poller: Poller) {
        self.driver = driver
        self.poller = poller
    }

    deinit { buffer.deallocate() }

    /// Whether a poll waits, or a response is being sent.
    var hasRequests: Bool { connections.values.contains { !$0.isIdle } }

    // MARK: - Requests in the library

    /// A request waits in the library. If the loop knows its bytes, equal requests may join from now on.
    func wait(for exchange: Exchange, _ request: HTTPRequest, _ offer: SharedWaitOffer) {
        // A head whose request has a body, also one that is not kept, does not tell where an equal request ends.
        guard request.method == "GET", request.body.isEmpty, !exchange.ignoresBody, !exchange.isOldVersion,
            !exchange.isLastOnConnection,
            request.headers["Connection"]?.equalsIgnoringASCIICase("keep-alive") != false
        else { return }
        exchange.mayRepeat = true
        let id = exchange.id
        guard let head = exchange.record.knownHead, head.count == cmhd_head_size(exchange.connection),
            hasNothingBehind(exchange), waitsByHead[head] == nil,
            let wait = offer({ [mailbox = driver.loop.mailbox] in mailbox.post(.answerAll(id, $0)) })
        else { return }
        let group = PollGroup(id: id, head: head, wait: wait)
        waits[id] = group
        waitsByHead[group.head] = group
        exchange.hasSharedWait = true
    }

    /// Whether the library has received no bytes but those of requests: nothing behind the present one, nor an empty line
    /// before it. Bytes in the socket do not count.
    private func hasNothingBehind(_ exchange: Exchange) -> Bool {
        cmhd_read_count(exchange.record.descriptor) == exchange.record.requestBytes
    }

    /// The request that began a shared wait has ended.
    func firstRequestEnded(_ id: UInt64) {
        guard let group = waits[id] else { return }
        group.hasFirst = false
        removeIfUnused(group)
    }

    /// Sends the response to a waiting request if the loop takes its connection; false: the library has to send it.
    func take(_ exchange: Exchange, _ response: HTTPResponse) -> Bool {
        let tag = response.headers["ETag"]
        defer { lastTag = tag }
        guard tag != nil, tag == lastTag else { return false }
        credit = min(credit + 1, Self.mostCredit)
        let (server, former, token) = (exchange.server, exchange.record.place, Exchanges.firstToken + exchange.id)
        guard credit > 0, response.body.count < LargeResponses.leastSize, !driver.isWindingDown,
            hasNothingBehind(exchange), let descriptor = exchange.takeSocket()
        else { return false }
        let place = ConnectionPlace(peer: former.peer, group: former.group, descriptor: descriptor, isReserved: false)
        let connection = PollingConnection(driver.requestTimes.add(place, of: server), token: token)
        connection.record.onDeadline = { [unowned self, unowned connection] in deadlinePassed(connection) }
        connections[token] = connection
        StreamWriter.sendAtOnce(descriptor)
        if poller.add(descriptor, token: token, .changes) {
            send(response, to: connection)
        } else {
            close(connection)
        }
        return true
    }

    // MARK: - Requests on the loop

    /// Handles an event of a descriptor; false if the token is not that of a connection of the loop.
    func noticed(_ token: UInt64, _ events: Poller.Events) -> Bool {
        guard let connection = connections[token] else { return false }
        if events.contains(.readable) { connection.hasInput = true }
        if !events.isDisjoint(with: .closed) { connection.isHalfClosed = true }
        if !events.isDisjoint(with: .broken) || connection.isHalfClosed && connection.group != nil {
            close(connection)
        } else if connection.rest.isEmpty {
            read(connection)
        } else if events.contains(.writable) {
            write(connection.rest, to: connection)
        }
        return true
    }

    private func read(_ connection: PollingConnection) {
        guard connection.hasInput, connection.isIdle else { return }
        connection.hasInput = false
        let count = peek(connection)
        if count < 0, errno == EAGAIN { return }
        guard count > 0 else { return close(connection) }
        let head = UnsafeRawBufferPointer(rebasing: buffer[..<count])
        // A client that has closed its side does not wait; the library responds to its last requests.
        guard !connection.isHalfClosed, let group = group(of: head) else { return giveBack(connection, head) }
        let entry = group.wait.join(from: connection.record.place.peer)
        if case .closed = entry {
            // The request begins another wait.
            unlist(group)
            return giveBack(connection, head)
        }
        // Discards the bytes.
        _ = recv(connection.descriptor, buffer.baseAddress, count, Int32(MSG_TRUNC))
        driver.figures.requests &+= 1
        switch entry {
        case .joined(let request):
            group.add(connection, request)
            driver.requestTimes.requestWaits(connection.record, atMost: group.wait.longestWait)
            credit = min(credit + 1, Self.mostCredit)
        case .refused(let response): send(response, to: connection)
        case .closed: break
        }
    }

    /// Copies received bytes into the buffer, and leaves them in the socket.
    private func peek(_ connection: PollingConnection) -> Int {
        recv(connection.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_PEEK))
    }

    private func group(of head: UnsafeRawBufferPointer) -> PollGroup? {
        if let latest, latest.isFor(head) { return latest }
        latest = waitsByHead[Array(head)]
        return latest
    }

    /// Returns a connection to the library, which reads the request at once: the next equal one finds it waiting.
    private func giveBack(_ connection: PollingConnection, _ head: UnsafeRawBufferPointer) {
        credit = max(credit - Self.costOfReturn, -Self.mostCredit)
        let server = connection.record.server
        var place = connection.record.place
        let count = cmhd_read_count(place.descriptor)
        place.readBytes = count < 0 ? .min : count
        if head.count <= Self.mostHeadBytes { place.knownHead = Array(head) }
        forget(connection)
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        withUnsafeMutablePointer(to: &storage) { pointer in
            let address = UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: sockaddr.self)
            // Fails for a connection that is broken. The library finds that out itself.
            getpeername(place.descriptor, address, &length)
            server.add(place.descriptor, address, length, place)
        }
        server.run(at: driver.scheduler.now, isDue: false)
    }

    // MARK: - Responses

    func answer(_ id: UInt64, _ answer: SharedAnswer) {
        guard let group = waits[id] else { return }
        remove(group)
        switch answer {
        case .same(let response):
            lastTag = response.headers["ETag"]
            let encoded = encoded(response)
            var parts = encoded.parts
            for (connection, request) in takeAll(of: group) {
                parts[1] = StreamPiece(SharedBytes(Array(request.fields.text.utf8)))
                request.answered(status: response.status)
                send(parts, of: encoded, to: connection)
            }
        case .each(let make):
            for (connection, request) in takeAll(of: group) { send(make(request), to: connection) }
        }
    }

    /// Ends all connections: waiting polls get 503.
    func endAll() {
        for group in Array(waits.values) { remove(group) }
        for connection in Array(connections.values) {
            if connection.request != nil {
                send(connection.record.response(to: .closing, on: nil), to: connection)
            }
            close(connection)
        }
    }

    private func takeAll(of group: PollGroup) -> [(PollingConnection, any JoinedRequest)] {
        group.members.compactMap { connection in
            connection.group = nil
            return connection.request.take().map { (connection, $0) }
        }
    }

    private func encoded(_ response: HTTPResponse) -> EncodedResponse {
        EncodedResponse(response, date: driver.date.text(), closing: driver.isWindingDown)
    }

    private func send(_ response: HTTPResponse, to connection: PollingConnection) {
        let encoded = encoded(response)
        send(encoded.parts, of: encoded, to: connection)
    }

    private func send(_ parts: [StreamPiece], of response: EncodedResponse, to connection: PollingConnection) {
        guard driver.largeResponses.begin(connection, response.body, of: response.caller) else {
            return send(connection.record.response(to: .responseBudgetExceeded, on: nil), to: connection)
        }
        connection.closes = response.closesConnection
        guard write(parts, to: connection), !connection.rest.isEmpty else { return }
        driver.requestTimes.responseBegan(connection.record, size: parts.reduce(0) { $0 + $1.bytes.count })
    }

    /// Sends what the socket accepts, keeps the rest, and looks at the next request if there is none; false if the
    /// connection is broken.
    @discardableResult
    private func write(_ parts: [StreamPiece], to connection: PollingConnection) -> Bool {
        guard case .written(let count) = output.write(parts[...], to: .socket(connection.descriptor)) else {
            close(connection)
            return false
        }
        if count < parts.reduce(0, { $0 + $1.bytes.count }) {
            connection.rest = StreamWriter.rest(of: parts[...], after: count)
            return true
        }
        connection.rest = []
        driver.largeResponses.end(connection)
        if connection.closes {
            close(connection)
        } else {
            driver.requestTimes.requestEnded(connection.record)
            read(connection)
        }
        return true
    }

    // MARK: - Ends

    /// A poll has waited as long as it may, or the next request or the acceptance of a response is late.
    private func deadlinePassed(_ connection: PollingConnection) {
        guard let request = leave(connection) else { return close(connection) }
        send(request.timedOut(), to: connection)
    }

    /// Removes a poll from its wait and returns it.
    private func leave(_ connection: PollingConnection) -> (any JoinedRequest)? {
        guard let group = connection.group else { return nil }
        group.remove(connection)
        removeIfUnused(group)
        return connection.request.take()
    }

    private func close(_ connection: PollingConnection) {
        guard connections[connection.token] != nil else { return }
        leave(connection)?.abandoned()
        forget(connection)
        connection.rest = []
        output.discardInput(of: connection.descriptor)
        Glibc.close(connection.descriptor)
        driver.ledger.release(connection.record.place)
    }

    private func forget(_ connection: PollingConnection) {
        driver.largeResponses.end(connection)
        connections[connection.token] = nil
        connection.record.onDeadline = nil
        poller.remove(connection.descriptor)
        driver.requestTimes.remove(connection.record)
    }

    private func removeIfUnused(_ group: PollGroup) {
        if !group.hasFirst, group.members.isEmpty, waits[group.id] != nil { remove(group) }
    }

    private func remove(_ group: PollGroup) {
        waits[group.id] = nil
        unlist(group)
        group.wait.end()
    }

    /// No further requests join.
    private func unlist(_ group: PollGroup) {
        if waitsByHead[group.head] === group { waitsByHead[group.head] = nil }
        if latest === group { latest = nil }
    }
}
