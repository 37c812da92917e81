internal import CMicroHTTPD
internal import Glibc
internal import Primitives
internal import StreamIO

/// One request, from its request line to its end. Confined to its loop's thread.
final class Exchange {
    enum Phase {
        /// The request line was read. *Entered* at the start; *leaves to* `body`, `discarding`, `over`.
        case head
        /// The head is valid; the body is received. *Leaves to* `waiting`, `streaming`, `over`.
        case body
        /// The body is too long, or there is no memory for it, or the head is rejected: the body is read to its end, so that
        /// the client reads the response instead of a broken connection, and discarded. *Leaves to* `over`.
        case discarding(HTTPResponse)
        /// The connection is suspended until the responder answers. *Leaves to* `answering`, `streaming`, `over`.
        case waiting
        /// Resumed with a late answer. *Entered* from `waiting`; *leaves to* `over`.
        case answering(HTTPResponse)
        /// The connection is suspended and belongs to a stream over TLS. *Leaves to* `over`.
        case streaming
        /// The response is queued, or the stream has ended or left the library. If the access callback is called again,
        /// it closes the connection.
        case over
    }

    /// Unique on its loop.
    let id: UInt64
    /// The server, which outlives its exchanges.
    unowned let server: HTTPServer
    private unowned let driver: LoopDriver
    /// The library's connection; valid until the completed-callback.
    let connection: OpaquePointer
    let record: ConnectionRecord
    var phase: Phase
    /// The request target as sent, until the head is checked.
    private var target: TargetText?
    /// The checked head, until it is passed to the handler.
    private var head: RequestHead?
    /// Handles the complete request, if its head was screened.
    private var screened: ((HTTPRequest, HTTPResponder) -> HTTPDecision)?
    /// The responder, while the request waits and the handler retains it.
    private weak var responder: HTTPResponder?
    /// The body so far, until it is passed to the handler.
    private var body: [UInt8]
    /// Bytes reserved for the body in the ledger, until the request is over, its body is discarded, or the responder holds them.
    var reservedBytes: Int
    /// The caller whose share these bytes count towards; nil: none.
    var bodyCaller: String?
    /// The memory of the response, if that is large, until it is sent.
    var heldResponse: HeldResponse?
    /// When the head or the latest part of the body was received.
    var partTime: Moment
    /// A response is being sent, and not a stream.
    var isResponding: Bool
    /// True if the request needs no body: the body is read, and not kept.
    private(set) var ignoresBody: Bool
    /// Discarded bytes of an overlong body, or of one that is not kept.
    private var discarded: Int
    /// True for a request with `HEAD`.
    private var wantsOnlyHead: Bool
    /// True if no bytes after the request may be parsed: its response closes the connection.
    var isLastOnConnection: Bool
    /// True for HTTP/1.0.
    private(set) var isOldVersion: Bool
    /// True if the client may send an equal request next, and has sent nothing behind this one.
    var mayRepeat: Bool
    /// True if the request is the first one of a shared wait.
    var hasSharedWait: Bool

    init(id: UInt64, server: HTTPServer, connection: OpaquePointer, record: ConnectionRecord, target: TargetText) {
        self.id = id
        self.server = server
        driver = server.driver
        self.connection = connection
        self.record = record
        self.target = target
        phase = .head
        body = []
        partTime = .zero
        (reservedBytes, discarded) = (0, 0)
        (isResponding, wantsOnlyHead, isLastOnConnection, isOldVersion) = (false, false, false, false)
        (ignoresBody, mayRepeat, hasSharedWait) = (false, false, false)
    }

    // MARK: - Steps, in calls of the access callback

    func headArrived(method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> MHD_Result {
        var path: String?
        if let target, target.fills(from: method, to: version) { path = target.text }
        let methodText = String(cString: method)
        wantsOnlyHead = methodText == "HEAD"
        isOldVersion = strcmp(version, "HTTP/1.0") == 0
        target = nil
        let head: RequestHead
        do {
            head = try RequestHead(
                method: methodText,
                target: path,
                isOldVersion: isOldVersion,
                headers: HeaderCollection.collect(for: self, method: method, version: version),
                limits: driver.configuration
            )
        } catch {
            return refuse(error)
        }
        self.head = head
        if head.body == .chunked { server.chunksBegan(self) }
        isLastOnConnection = head.isLastOnConnection
        phase = .body
        if record.place.isReserved {
            isLastOnConnection = true
            guard driver.handler.isOperational(request(head)) else { return refuse(.connectionLimitReached) }
        }
        record.requestBytes &+= Int64(cmhd_head_size(connection))
        switch head.body {
        case .none, .length(0): return .YES
        case .length(let length): record.requestBytes &+= Int64(length)
        case .chunked: record.requestBytes = .min
        }
        return driver.isClosing ? .YES : screen(head)
    }

    /// Asks the handler whether it accepts a request with a body, and reserves the memory of the body.
    private func screen(_ head: RequestHead) -> MHD_Result {
        switch driver.handler.screen(request(head)) {
        case .accept(let handler, let caller):
            screened = handler
            bodyCaller = caller
        case .acceptIgnoringBody(let handler):
            screened = handler
            ignoresBody = true
        case .reject(let response):
            driver.figures.requests &+= 1
            return discardBody(head, then: response)
        }
        if case .length(let length) = head.body {
            guard length <= driver.configuration.bodyLimit else {
                return discardBody(head, then: record.response(to: .bodyTooLarge, on: connection))
            }
            if ignoresBody { return .YES }
            guard reserve(length) else { return refuse(.bodyBudgetExceeded) }
            body.reserveCapacity(length)
        }
        return .YES
    }

    /// Responds after the body was discarded; at once if the client waits for permission, or the body is too long.
    private func discardBody(_ head: RequestHead, then response: HTTPResponse) -> MHD_Result {
        self.head = nil
        screened = nil
        var length = 0
        if case .length(let count) = head.body { length = count }
        if head.expectsContinue || length > driver.configuration.bodyDiscardLimit {
            var response = response
            response.headers.append("Connection", "close")
            return server.queue(response, for: self)
        }
        phase = .discarding(response)
        return .YES
    }

    func bodyArrived(_ part: UnsafeRawBufferPointer) -> MHD_Result {
        let before = ignoresBody ? discarded : body.count
        guard part.count <= driver.configuration.bodyLimit - before else {
            return discard(part.count, then: .bodyTooLarge)
        }
        if ignoresBody {
            discarded += part.count
            return .YES
        }
        let missing = body.count + part.count - reservedBytes
        guard missing <= 0 || reserve(missing) else { return discard(part.count, then: .bodyBudgetExceeded) }
        body.append(contentsOf: part)
        return .YES
    }

    /// Discards the body so far, with its memory, and the rest of it, and then refuses the request.
    private func discard(_ count: Int, then refusal: RequestRefusal) -> MHD_Result {
        phase = .discarding(record.response(to: refusal, on: connection))
        body = []
        driver.ledger.releaseBody(reservedBytes, on: record.place, of: bodyCaller)
        reservedBytes = 0
        return discard(count)
    }

    private func reserve(_ count: Int) -> Bool {
        guard driver.ledger.reserveBody(count, on: record.place, of: bodyCaller) else { return false }
        reservedBytes += count
        return true
    }

    func discard(_ count: Int) -> MHD_Result {
        discarded += count
        return discarded <= driver.configuration.bodyDiscardLimit ? .YES : .NO
    }

    func requestArrived() -> MHD_Result {
        guard let head else { return .NO }
        if head.body == .chunked { server.chunksEnded(self) }
        driver.requestTimes.requestArrived(record)
        if record.place.isReserved { driver.ledger.requestArrived(on: record.place) }
        driver.figures.requests &+= 1
        if driver.isClosing { return refuse(.closing) }
        let request = request(head)
        let screened = screened
        self.head = nil
        self.screened = nil
        body = []
        let responder = HTTPResponder { [mailbox = driver.loop.mailbox, id] in
            mailbox.post(.answer(id, $0))
        }
        let decision =
            if let screened { screened(request, responder) } else { driver.handler.handle(request, responder) }
        switch decision {
        case .respond(let response):
            return server.queue(response, for: self)
        case .wait:
            phase = .waiting
            self.responder = responder
            driver.exchanges.wait(for: self)
            MHD_suspend_connection(connection)
            if let offer = responder.expectAnswer(), !server.isSecure { driver.polls.wait(for: self, request, offer) }
            return .YES
        case .stream(let headers, let stream):
            return openStream(headers, stream)
        }
    }

    /// The request with the body received so far.
    private func request(_ head: RequestHead) -> HTTPRequest {
        HTTPRequest(
            method: head.method,
            rawPath: head.rawPath,
            rawQuery: head.rawQuery,
            headers: head.headers,
            body: body,
            peer: record.place.peer
        )
    }

    // MARK: - Responses

    /// Refuses a request with the handler's response; inside the access callback only.
    private func refuse(_ refusal: RequestRefusal) -> MHD_Result {
        head = nil
        screened = nil
        body = []
        return server.queue(record.response(to: refusal, on: connection), for: self)
    }

    /// The client of a waiting exchange has left. The handler may go on with the request, whose body then still counts.
    func abandon() {
        phase = .over
        if let responder {
            if reservedBytes > 0 {
                responder.hold(
                    HeldBody(ledger: driver.ledger, count: reservedBytes, place: record.place, caller: bodyCaller)
                )
                reservedBytes = 0
            }
            responder.abandon()
        }
        server.resume(self)
    }

    /// A late answer to a waiting exchange, from the loop's mailbox.
    func answer(_ answer: LateAnswer) {
        guard case .waiting = phase else { return answer.refuse() }
        switch answer {
        case .response(let response):
            if mayRepeat, driver.polls.take(self, response) { return }
            phase = .answering(response)
            server.resume(self)
        case .stream(let headers, let stream):
            if wantsOnlyHead {
                stream.onEnd(.neverOpened)
                phase = .answering(Self.headOfStream(headers))
                server.resume(self)
            } else {
                begin(stream, headers)
            }
        }
    }

    /// Opens a stream at once; inside the access callback only.
    private func openStream(_ headers: HTTPFields, _ stream: AdmittedStream) -> MHD_Result {
        if wantsOnlyHead {
            stream.onEnd(.neverOpened)
            return server.queue(Self.headOfStream(headers), for: self)
        }
        MHD_suspend_connection(connection)
        begin(stream, headers)
        return .YES
    }

    /// The response to `HEAD` on a stream, which closes the connection.
    private static func headOfStream(_ headers: HTTPFields) -> HTTPResponse {
        var response = HTTPResponse(status: 200, headers: headers, body: .omitted(nil))
        response.headers.append("Connection", "close")
        return response
    }

    /// Begins a stream on a suspended connection. If the system refuses, the library closes the connection.
    private func begin(_ stream: AdmittedStream, _ headers: HTTPFields) {
        driver.exchanges.stopWatching(record)
        guard let connection = server.isSecure ? encryptedConnection() : takenConnection() else {
            stream.onEnd(.neverOpened)
            return release()
        }
        let isChunked = !isOldVersion
        let head = ResponseHead.ofStream(headers, isChunked: isChunked, date: driver.date.text())
        let writer = driver.scheduler.open(stream, framing: isChunked ? .chunked : .bare) {
            StreamWriter(connection: connection, head: SharedBytes(head), stream: $0, isChunked: isChunked)
        }
        if writer == nil { connection.close() }
    }

    /// Takes the socket of a waiting exchange from the library, which then frees the rest of the connection.
    func takeSocket() -> Int32? {
        driver.exchanges.stopWatching(record)
        guard let descriptor = SocketHandover.take(record.descriptor) else { return nil }
        record.isTakenOver = true
        release()
        return descriptor
    }

    private func takenConnection() -> StreamConnection? {
        guard let descriptor = takeSocket() else { return nil }
        return StreamConnection(sink: .socket(descriptor), descriptor: descriptor) {
            [ledger = driver.ledger, place = record.place] in
            Glibc.close(descriptor)
            ledger.release(place)
        }
    }

    /// The TLS session of the connection, which stays suspended until the end of the stream.
    private func encryptedConnection() -> StreamConnection? {
        guard let session = cmhd_tls_session(connection) else { return nil }
        phase = .streaming
        return StreamConnection(sink: .session(OpaquePointer(session)), descriptor: record.descriptor) {
            self.release()
        }
    }

    /// Has the library close the suspended connection of a stream, or free what is left of it.
    private func release() {
        phase = .over
        server.resume(self)
    }
}
