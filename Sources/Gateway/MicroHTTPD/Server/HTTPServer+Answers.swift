internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// The responses to an exchange.
extension HTTPServer {
    /// Queues a response in the library; inside the access callback only.
    func queue(_ response: HTTPResponse, for exchange: Exchange) -> MHD_Result {
        exchange.phase = .over
        let size = response.body.count
        if size >= LargeResponses.leastSize, !driver.largeResponses.begin(exchange, response.body) {
            return queue(self.response(to: .responseBudgetExceeded), for: exchange)
        }
        responseBegan(exchange)
        driver.requestTimes.responseBegan(exchange.record, size: size)
        let isLast = driver.isWindingDown || exchange.isLastOnConnection
        guard let made = response.makeLibraryResponse(closing: isLast) else { return .NO }
        defer { MHD_destroy_response(made) }
        return queue(made, status: response.sendableStatus, exchange)
    }

    /// Refuses a request with the handler's response; inside the access callback only.
    func refuse(_ exchange: Exchange, _ refusal: RequestRefusal) -> MHD_Result {
        exchange.head = nil
        exchange.screened = nil
        exchange.body = []
        return queue(response(to: refusal), for: exchange)
    }

    /// The handler's response to a request that is refused; it closes the connection.
    func response(to refusal: RequestRefusal) -> HTTPResponse {
        driver.figures.refusedRequests &+= 1
        var response = driver.handler.refusal(for: refusal)
        response.headers.append("Connection", "close")
        return response
    }

    /// A late answer to a waiting exchange, from the loop's mailbox.
    func answer(_ exchange: Exchange, _ answer: LateAnswer) {
        guard case .waiting = exchange.phase else { return answer.refuse() }
        switch answer {
        case .response(let response):
            exchange.phase = .answering(response)
            exchange.resume()
        case .stream(let head, let stream):
            if exchange.wantsOnlyHead {
                stream.onEnd(.neverOpened)
                exchange.phase = .answeringHead(head)
                exchange.resume()
            } else {
                begin(stream, head, on: exchange)
            }
        }
    }

    /// Opens a stream at once; inside the access callback only.
    func openStream(_ exchange: Exchange, _ head: HTTPStreamHead, _ stream: AdmittedStream) -> MHD_Result {
        if exchange.wantsOnlyHead {
            stream.onEnd(.neverOpened)
            return queueHead(head, for: exchange)
        }
        suspend(exchange.connection)
        begin(stream, head, on: exchange)
        return .YES
    }

    /// Queues the head of a stream alone; inside the access callback only.
    func queueHead(_ head: HTTPStreamHead, for exchange: Exchange) -> MHD_Result {
        exchange.phase = .over
        guard let made = HTTPResponse.makeUnsized() else { return .NO }
        defer { MHD_destroy_response(made) }
        head.headers.addLines(to: made, closing: true)
        return queue(made, status: HTTPResponse(status: head.status).sendableStatus, exchange)
    }

    private func queue(_ made: OpaquePointer, status: UInt32, _ exchange: Exchange) -> MHD_Result {
        exchange.record.isQueueing = true
        defer { exchange.record.isQueueing = false }
        return MHD_queue_response(exchange.connection, status, made)
    }

    /// Begins a stream on a suspended connection. If the system refuses, the library closes the connection.
    private func begin(_ stream: AdmittedStream, _ head: HTTPStreamHead, on exchange: Exchange) {
        driver.exchanges.stopWatching(exchange.record)
        guard let connection = isSecure ? encryptedConnection(of: exchange) : takenConnection(of: exchange) else {
            stream.onEnd(.neverOpened)
            return release(exchange)
        }
        let isChunked = head.prefersChunks && !exchange.isOldVersion
        let encodedHead = StreamHeadEncoder.encode(head, isChunked: isChunked, date: driver.date.text())
        let writer = driver.scheduler.open(stream, framing: isChunked ? .chunked : .bare) {
            StreamWriter(connection: connection, head: SharedBytes(encodedHead), stream: $0, isChunked: isChunked)
        }
        if writer == nil { connection.close() }
    }

    /// The socket, taken from the library, which then frees the rest of the connection.
    private func takenConnection(of exchange: Exchange) -> StreamConnection? {
        let record = exchange.record
        guard let descriptor = SocketHandover.take(record.descriptor) else { return nil }
        record.isTakenOver = true
        release(exchange)
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
    private func release(_ exchange: Exchange) {
        exchange.phase = .over
        exchange.resume()
    }
}
