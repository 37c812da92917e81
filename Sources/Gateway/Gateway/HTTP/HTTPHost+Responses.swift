internal import Logging
internal import MicroHTTPD
internal import SessionCore

/// Headers, metrics and log of every response.
extension HTTPHost {
    func finish(_ response: consuming Response, _ record: CallRecord) -> HTTPResponse {
        logUnexpectedError(of: response, record)
        decorate(&response.headers, record)
        finished(record, status: response.status, problem: response.problem)
        return response.httpResponse
    }

    func finish(_ head: HTTPStreamHead, _ record: CallRecord) -> HTTPStreamHead {
        var head = head
        decorate(&head.headers, record)
        finished(record, status: head.status, problem: nil)
        return head
    }

    private func decorate(_ headers: inout HTTPFields, _ record: CallRecord) {
        headers.append("X-Request-Id", record.requestID)
        // Responses are cached only if their own headers permit it, and browsers do not guess media types.
        if headers["Cache-Control"] == nil { headers.append("Cache-Control", "no-store") }
        headers.append("X-Content-Type-Options", "nosniff")
        headers.lines += record.headers
        for middleware in responseMiddlewares { middleware.finish(&headers, for: record.request) }
    }

    private func finished(_ record: CallRecord, status: Int, problem: ProblemCode?) {
        let now = services.clock()
        requests.record(
            route: record.operation,
            method: record.request.method,
            status: status,
            problem: problem,
            from: record.since,
            to: now
        )
        logger.log(
            level: accessLevel,
            "request",
            metadata: metadata(record).merging([
                "status": .stringConvertible(status),
                "seconds": .stringConvertible((now - record.since).roundedSeconds),
            ]) { $1 }
        )
    }

    /// Logs the error that a response with an `internal` problem does not show.
    package func logUnexpectedError(of response: borrowing Response, _ record: CallRecord) {
        if let error = response.unexpectedError { logger.error("\(error)", metadata: metadata(record)) }
    }

    /// The query is not logged: it may hold secrets.
    private func metadata(_ record: CallRecord) -> Logger.Metadata {
        let request = record.request
        var metadata: Logger.Metadata = [
            "method": "\(request.method)", "path": "\(request.rawPath)", "request": "\(record.requestID)",
            "client": "\(request.peer.host)",
        ]
        if let trace = RequestIdentity.trace(of: request) { metadata["trace"] = "\(trace)" }
        return metadata
    }
}
