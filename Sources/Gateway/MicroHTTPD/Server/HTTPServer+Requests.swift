internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// The steps of a request, one for each call of the access callback.
extension HTTPServer {
    func headArrived(_ exchange: Exchange, method: UnsafePointer<CChar>, version: UnsafePointer<CChar>) -> MHD_Result {
        var target: String?
        if let whole = exchange.target, whole.fills(from: method, to: version) { target = whole.text }
        let methodText = String(cString: method)
        exchange.wantsOnlyHead = methodText == "HEAD"
        exchange.isOldVersion = strcmp(version, "HTTP/1.0") == 0
        exchange.target = nil
        let head: RequestHead
        do {
            head = try RequestHead(
                method: methodText,
                target: target,
                isOldVersion: exchange.isOldVersion,
                headers: HeaderCollection.collect(for: exchange, method: method, version: version),
                limits: driver.configuration
            )
        } catch {
            return refuse(exchange, error)
        }
        exchange.head = head
        if head.body == .chunked { chunksBegan(exchange) }
        exchange.isLastOnConnection = head.isLastOnConnection
        exchange.phase = .body
        if exchange.record.place.isReserved {
            exchange.isLastOnConnection = true
            guard driver.handler.isOperational(request(of: exchange, head)) else {
                return refuse(exchange, .connectionLimitReached)
            }
        }
        exchange.record.requestBytes &+= Int64(cmhd_head_size(exchange.connection))
        switch head.body {
        case .none, .length(0): return .YES
        case .length(let length): exchange.record.requestBytes &+= Int64(length)
        case .chunked: exchange.record.requestBytes = .min
        }
        return driver.isClosing ? .YES : screen(exchange, head)
    }

    /// Asks the handler whether it accepts a request with a body, and reserves the memory of the body.
    private func screen(_ exchange: Exchange, _ head: RequestHead) -> MHD_Result {
        switch driver.handler.screen(request(of: exchange, head)) {
        case .accept(let handler, let caller):
            exchange.screened = handler
            exchange.bodyCaller = caller
        case .acceptIgnoringBody(let handler):
            exchange.screened = handler
            exchange.ignoresBody = true
        case .reject(let response):
            driver.figures.requests &+= 1
            return discardBody(of: exchange, head, then: response)
        }
        if case .length(let length) = head.body {
            guard length <= driver.configuration.bodyLimit else {
                let response = exchange.record.response(to: .bodyTooLarge, on: exchange.connection)
                return discardBody(of: exchange, head, then: response)
            }
            if exchange.ignoresBody { return .YES }
            guard reserve(length, for: exchange) else { return refuse(exchange, .bodyBudgetExceeded) }
            exchange.body.reserveCapacity(length)
        }
        return .YES
    }

    /// Responds after the body was discarded; at once if the client waits for permission, or the body is too long.
    private func discardBody(of exchange: Exchange, _ head: RequestHead, then response: HTTPResponse) -> MHD_Result {
        exchange.head = nil
        exchange.screened = nil
        var length = 0
        if case .length(let count) = head.body { length = count }
        if head.expectsContinue || length > driver.configuration.bodyDiscardLimit {
            var response = response
            response.headers.append("Connection", "close")
            return queue(response, for: exchange)
        }
        exchange.phase = .discarding(response)
        return .YES
    }

    func bodyArrived(_ exchange: Exchange, _ part: UnsafeRawBufferPointer) -> MHD_Result {
        let before = exchange.ignoresBody ? exchange.discarded : exchange.body.count
        guard part.count <= driver.configuration.bodyLimit - before else {
            return discard(exchange, part.count, then: .bodyTooLarge)
        }
        if exchange.ignoresBody {
            exchange.discarded += part.count
            return .YES
        }
        let missing = exchange.body.count + part.count - exchange.reservedBytes
        guard missing <= 0 || reserve(missing, for: exchange) else {
            return discard(exchange, part.count, then: .bodyBudgetExceeded)
        }
        exchange.body.append(contentsOf: part)
        return .YES
    }

    /// Discards the body so far, with its memory, and the rest of it, and then refuses the request.
    private func discard(_ exchange: Exchange, _ count: Int, then refusal: RequestRefusal) -> MHD_Result {
        exchange.phase = .discarding(exchange.record.response(to: refusal, on: exchange.connection))
        exchange.body = []
        driver.ledger.releaseBody(exchange.reservedBytes, on: exchange.record.place, of: exchange.bodyCaller)
        exchange.reservedBytes = 0
        return discard(exchange, count)
    }

    private func reserve(_ count: Int, for exchange: Exchange) -> Bool {
        guard driver.ledger.reserveBody(count, on: exchange.record.place, of: exchange.bodyCaller) else { return false }
        exchange.reservedBytes += count
        return true
    }

    func discard(_ exchange: Exchange, _ count: Int) -> MHD_Result {
        exchange.discarded += count
        return exchange.discarded <= driver.configuration.bodyDiscardLimit ? .YES : .NO
    }

    func requestArrived(_ exchange: Exchange) -> MHD_Result {
        guard let head = exchange.head else { return .NO }
        if head.body == .chunked { chunksEnded(exchange) }
        driver.requestTimes.requestArrived(exchange.record)
        if exchange.record.place.isReserved { driver.ledger.requestArrived(on: exchange.record.place) }
        driver.figures.requests &+= 1
        if driver.isClosing { return refuse(exchange, .closing) }
        let request = request(of: exchange, head)
        let screened = exchange.screened
        exchange.head = nil
        exchange.screened = nil
        exchange.body = []
        let responder = HTTPResponder { [mailbox = driver.loop.mailbox, id = exchange.id] in
            mailbox.post(.answer(id, $0))
        }
        let decision =
            if let screened { screened(request, responder) } else { driver.handler.handle(request, responder) }
        switch decision {
        case .respond(let response):
            return queue(response, for: exchange)
        case .wait:
            exchange.phase = .waiting
            exchange.responder = responder
            driver.exchanges.wait(for: exchange)
            MHD_suspend_connection(exchange.connection)
            if let offer = responder.expectAnswer(), !isSecure { driver.polls.wait(for: exchange, request, offer) }
            return .YES
        case .stream(let headers, let stream):
            return openStream(exchange, headers, stream)
        }
    }

    /// The request with the body received so far.
    private func request(of exchange: Exchange, _ head: RequestHead) -> HTTPRequest {
        HTTPRequest(
            method: head.method,
            rawPath: head.rawPath,
            rawQuery: head.rawQuery,
            headers: head.headers,
            body: exchange.body,
            peer: exchange.record.place.peer
        )
    }
}

/// The responses to an exchange.
extension HTTPServer {
    /// Refuses a request with the handler's response; inside the access callback only.
    func refuse(_ exchange: Exchange, _ refusal: RequestRefusal) -> MHD_Result {
        exchange.head = nil
        exchange.screened = nil
        exchange.body = []
        return queue(exchange.record.response(to: refusal, on: exchange.connection), for: exchange)
    }

    /// The client of a waiting exchange has left. The handler may go on with the request, whose body then still counts.
    func abandon(_ exchange: Exchange) {
        guard let responder = exchange.responder else { return }
        if exchange.reservedBytes > 0 {
            responder.hold(
                HeldBody(
                    ledger: driver.ledger,
                    count: exchange.reservedBytes,
                    place: exchange.record.place,
                    caller: exchange.bodyCaller
                )
            )
            exchange.reservedBytes = 0
        }
        responder.abandon()
    }

    /// A late answer to a waiting exchange, from the loop's mailbox.
    func answer(_ exchange: Exchange, _ answer: LateAnswer) {
        guard case .waiting = exchange.phase else { return answer.refuse() }
        switch answer {
        case .response(let response):
            if exchange.mayRepeat, driver.polls.take(exchange, response) { return }
            exchange.phase = .answering(response)
            resume(exchange)
        case .stream(let headers, let stream):
            if exchange.wantsOnlyHead {
                stream.onEnd(.neverOpened)
                exchange.phase = .answering(Self.headOfStream(headers))
                resume(exchange)
            } else {
                begin(stream, headers, on: exchange)
            }
        }
    }

    /// Opens a stream at once; inside the access callback only.
    func openStream(_ exchange: Exchange, _ headers: HTTPFields, _ stream: AdmittedStream) -> MHD_Result {
        if exchange.wantsOnlyHead {
            stream.onEnd(.neverOpened)
            return queue(Self.headOfStream(headers), for: exchange)
        }
        MHD_suspend_connection(exchange.connection)
        begin(stream, headers, on: exchange)
        return .YES
    }

    /// The response to `HEAD` on a stream, which closes the connection.
    private static func headOfStream(_ headers: HTTPFields) -> HTTPResponse {
        var response = HTTPResponse(status: 200, headers: headers, body: .omitted(nil))
        response.headers.append("Connection", "close")
        return response
    }

    /// Begins a stream on a suspended connection. If the system refuses, the library closes the connection.
    private func begin(_ stream: AdmittedStream, _ headers: HTTPFields, on exchange: Exchange) {
        driver.exchanges.stopWatching(exchange.record)
        guard let connection = isSecure ? encryptedConnection(of: exchange) : takenConnection(of: exchange) else {
            stream.onEnd(.neverOpened)
            return release(exchange)
        }
        let isChunked = !exchange.isOldVersion
        let head = ResponseHead.ofStream(headers, isChunked: isChunked, date: driver.date.text())
        let writer = driver.scheduler.open(stream, framing: isChunked ? .chunked : .bare) {
            StreamWriter(connection: connection, head: SharedBytes(head), stream: $0, isChunked: isChunked)
        }
        if writer == nil { connection.close() }
    }

    /// Takes the socket of a waiting exchange from the library, which then frees the rest of the connection.
    func takeSocket(of exchange: Exchange) -> Int32? {
        driver.exchanges.stopWatching(exchange.record)
        guard let descriptor = SocketHandover.take(exchange.record.descriptor) else { return nil }
        exchange.record.isTakenOver = true
        release(exchange)
        return descriptor
    }

    private func takenConnection(of exchange: Exchange) -> StreamConnection? {
        let record = exchange.record
        guard let descriptor = takeSocket(of: exchange) else { return nil }
        return StreamConnection(sink: .socket(descriptor), descriptor: descriptor) {
            [ledger = driver.ledger, place = record.place] in
            Glibc.close(descriptor)
            ledger.release(place)
        }
    }

    /// The TLS session of the connection, which stays suspended until the end of the stream.
    private func encryptedConnection(of exchange: Exchange) -> StreamConnection? {
        guard let session = cmhd_tls_session(exchange.connection) else { return nil }
        exchange.phase = .streaming
        return StreamConnection(sink: .session(OpaquePointer(session)), descriptor: exchange.record.descriptor) {
            exchange.server.release(exchange)
        }
    }

    /// Has the library close the suspended connection of a stream, or free what is left of it.
    func release(_ exchange: Exchange) {
        exchange.phase = .over
        resume(exchange)
    }
}

extension ConnectionRecord {
    /// The handler's response to a request of this connection that is refused; it closes the connection.
    ///
    /// - Parameter connection: The library's connection of the request; nil if the loop has taken it.
    func response(to refusal: RequestRefusal, on connection: OpaquePointer?) -> HTTPResponse {
        server.driver.figures.refusedRequests &+= 1
        let headers = connection.map(HeaderCollection.lines) ?? HTTPFields()
        var response = server.driver.handler.refusal(for: refusal, from: place.peer, headers: headers)
        response.headers.append("Connection", "close")
        return response
    }
}
