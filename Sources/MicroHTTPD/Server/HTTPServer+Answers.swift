internal import CMicroHTTPD
internal import Glibc
internal import StreamIO

/// The responses to an exchange.
extension HTTPServer {
    /// Queues a response in the library; inside the access callback only.
    func queue(_ response: HTTPResponse, for exchange: Exchange) -> MHD_Result {
        exchange.phase = .over
        responseBegan(exchange)
        driver.requestTimes.responseBegan(exchange.record, size: response.body.count)
        guard
            let made = response.makeLibraryResponse(
                closing: driver.isWindingDown || exchange.isLastOnConnection
            )
        else { return .NO }
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
            if isSecure || exchange.wantsOnlyHead {
                exchange.phase = .opening(head, stream)
                exchange.resume()
            } else {
                takeOver(exchange, head, stream)
            }
        }
    }

    /// Opens a stream at once; inside the access callback only.
    func openStream(_ exchange: Exchange, _ head: HTTPStreamHead, _ stream: AdmittedStream) -> MHD_Result {
        if isSecure || exchange.wantsOnlyHead { return openThroughLibrary(exchange, head, stream) }
        suspend(exchange.connection)
        takeOver(exchange, head, stream)
        return .YES
    }

    /// The most bytes of a stream that the library reads at a time.
    private static let secureBlock = 16 * 1024

    /// Opens a stream that the library reads, or sends its head alone; inside the access callback only.
    func openThroughLibrary(_ exchange: Exchange, _ head: HTTPStreamHead, _ stream: AdmittedStream) -> MHD_Result {
        if exchange.wantsOnlyHead {
            stream.onEnd(.neverOpened)
            exchange.phase = .over
            return queue(HTTPResponse.makeUnsized(), head, exchange)
        }
        exchange.phase = .streaming
        driver.stopWatching(exchange.record)
        let scheduler = driver.scheduler
        let writer = scheduler.open(stream, framing: .bare) {
            SecureStreamWriter(exchange: exchange, stream: $0, scheduler: scheduler)
        }
        guard let writer else { return .NO }
        let context = StreamBox.retain(writer)
        let response = MHD_create_response_from_callback(
            .max,
            Self.secureBlock,
            contentReaderCallback,
            context,
            contentFreeCallback
        )
        guard let response else {
            scheduler.closed(writer, .neverOpened)
            StreamBox.release(context)
            return .NO
        }
        exchange.secureStream = writer
        return queue(response, head, exchange)
    }

    private func queue(_ made: OpaquePointer?, _ head: HTTPStreamHead, _ exchange: Exchange) -> MHD_Result {
        guard let made else { return .NO }
        defer { MHD_destroy_response(made) }
        head.headers.addLines(to: made, closing: true)
        let status = HTTPResponse(status: head.status).sendableStatus
        return queue(made, status: status, exchange)
    }

    private func queue(_ made: OpaquePointer, status: UInt32, _ exchange: Exchange) -> MHD_Result {
        exchange.record.isQueueing = true
        defer { exchange.record.isQueueing = false }
        return MHD_queue_response(exchange.connection, status, made)
    }

    /// Takes the socket of a suspended connection for a stream that the loop writes itself, and lets the library free
    /// the rest. If the system refuses, the library closes the connection.
    private func takeOver(_ exchange: Exchange, _ head: HTTPStreamHead, _ stream: AdmittedStream) {
        defer {
            exchange.phase = .over
            exchange.resume()
        }
        driver.stopWatching(exchange.record)
        guard let descriptor = SocketHandover.take(exchange.record.descriptor) else {
            return stream.onEnd(.neverOpened)
        }
        let isChunked = head.prefersChunks && !exchange.isOldVersion
        let encodedHead = StreamHeadEncoder.encode(head, isChunked: isChunked, date: driver.date.text())
        let writer = driver.scheduler.open(stream, framing: isChunked ? .chunked : .bare) {
            PlainStreamWriter(
                descriptor: descriptor,
                place: exchange.record.place,
                ledger: driver.ledger,
                head: SharedBytes(encodedHead),
                stream: $0,
                isChunked: isChunked
            )
        }
        if writer != nil {
            exchange.record.isTakenOver = true
        } else {
            Glibc.close(descriptor)
        }
    }
}
