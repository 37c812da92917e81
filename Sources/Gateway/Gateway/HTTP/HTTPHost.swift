internal import Logging
package import MicroHTTPD
internal import SessionCore

/// Handles every HTTP request: routing, middleware, idempotency, errors, common headers, metrics and log.
package final class HTTPHost: HTTPHandler {
    package let services: Services
    package let router: Router
    let middlewares: [any Middleware]
    /// The steps that add headers, in the order in which responses pass them.
    let responseMiddlewares: [any ResponseMiddleware]
    let requests: RequestMetrics
    let logger: Logger
    /// The level of the record of each request.
    let accessLevel: Logger.Level
    private let refusedNames = RefusedNames()

    /// Authentication, authorization and limits, in the order in which requests pass them.
    static func guards(_ services: Services) -> [any Middleware] {
        let access = services.access
        return [
            CORSMiddleware(access: access),
            KnownHosts(access: access),
            RateLimit(scope: .address, access: access, coordination: services.coordination),
            access,
            RateLimit(scope: .caller, access: access, coordination: services.coordination),
        ]
    }

    /// A host over the services of handlers.
    ///
    /// - Parameter middlewares: The steps before every handler, in the order in which requests pass them.
    init(
        services: Services,
        middlewares: [any Middleware],
        requests: RequestMetrics = RequestMetrics(),
        logger: Logger
    ) {
        self.services = services
        self.middlewares = middlewares
        responseMiddlewares = middlewares.reversed().compactMap { $0 as? any ResponseMiddleware }
        self.requests = requests
        self.logger = logger
        accessLevel = services.configuration.log.logsRequests ? .info : .debug
        router = Router(OperationTable.operations(services))
        services.coordination.attach(self)
    }

    /// Runs the timers of waiting requests until cancelled; then all waiting requests get their responses.
    package func run() async { await services.timers.run() }

    /// Rejects new streams, reports not ready, and responds to all waiting requests.
    package func stopAccepting() {
        services.process.stop()
        services.timers.stop()
        services.background.stop()
    }

    // MARK: - HTTPHandler

    /// Responds to a request at once, later, or with a stream.
    package func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision {
        switch admit(request) {
        case .response(let response): .respond(response)
        case .admitted(let call, let operation): perform(call, operation, body: request.body, responder)
        }
    }

    /// Performs all steps before the handler: routing, authentication, authorization, limits and negotiation.
    package func screen(_ head: HTTPRequest) -> HTTPScreening {
        switch admit(head) {
        case .response(let response): return .reject(response)
        case .admitted(let call, let operation):
            let handle = { [self] (request: HTTPRequest, responder: HTTPResponder) in
                perform(call, operation, body: request.body, responder)
            }
            // Some operations without a body need no credentials: a body must not take memory that others need.
            return operation.takesBody ? .accept(handle, caller: call.caller.account) : .acceptIgnoringBody(handle)
        }
    }

    /// Whether a request is a health check or reads metrics.
    package func isOperational(_ head: HTTPRequest) -> Bool {
        guard let path = try? RequestPath(raw: head.rawPath),
            case .operation(let operation, _) = router.find(method: head.method, path: path)
        else { return false }
        return operation.isOperational
    }

    package func connectionsRefused(reason: String) {
        logger.warning("new connections are refused by the system", metadata: ["reason": "\(reason)"])
    }

    /// The response to a request that the HTTP server rejected.
    package func refusal(for refusal: RequestRefusal, from peer: PeerAddress, headers: HTTPFields) -> HTTPResponse {
        var problem = ProblemDetails.problem(for: refusal)
        if let limit = ProblemDetails.limit(exceededBy: refusal, in: services.configuration) {
            problem.detail = "\(refusal.explanation) The limit is \(limit)."
        }
        let now = services.clock()
        var request = HTTPRequest(method: "", rawPath: "", headers: headers, peer: peer)
        if let proxies = services.access.policy.proxies { request.peer = proxies.client(of: request) }
        let id = RequestIdentity.id(of: request)
        requests.record(route: nil, method: nil, status: refusal.status, problem: problem.code, from: now, to: now)
        let status: Logger.MetadataValue = .stringConvertible(refusal.status)
        let metadata: Logger.Metadata = [
            "request": "\(id)", "client": "\(request.peer.host)", "status": status,
            "reason": "\(refusal.explanation)",
        ]
        logger.log(level: accessLevel, "request refused", metadata: metadata)
        var response = ProblemDetails.response(problem, requestID: id, status: refusal.status)
        decorate(&response.headers, CallRecord(request, requestID: id, since: now))
        return response.httpResponse()
    }

    // MARK: - Steps

    /// The outcome of the steps before the handler.
    enum Admission {
        case admitted(Call, Operation)
        case response(HTTPResponse)
    }

    /// Performs the steps before the handler.
    func admit(_ head: HTTPRequest) -> Admission {
        var request = head
        if let proxies = services.access.policy.proxies { request.peer = proxies.client(of: request) }
        let record = CallRecord(request, requestID: RequestIdentity.id(of: request), since: services.clock())
        var call = Call(record: record)
        do {
            let operation = try route(&call)
            return .admitted(call, operation)
        } catch {
            return .response(rejection(error, of: call))
        }
    }

    private func perform(
        _ admitted: Call,
        _ operation: Operation,
        body: [UInt8],
        _ responder: HTTPResponder
    ) -> HTTPDecision {
        let record = admitted.record
        var call = admitted
        call.body = body
        let account = admitted.caller.account
        call.respond = { [self] in responder.respond(finish($0, record, of: account)) }
        call.onAbandonment = { responder.onAbandonment($0) }
        if record.request.headers["Prefer"] != nil {
            call.share = { [self] decision in
                responder.share { SharedPoll(of: admitted, decision, host: self, deliver: $0) }
            }
        }
        do {
            let result =
                if body.count > Self.largeBody {
                    OperationResult.later { [services, call] in
                        try await services.background.perform(for: call) {
                            try await services.coordination.perform(call, operation).last
                        }
                    }
                } else {
                    try services.coordination.perform(call, operation)
                }
            switch result {
            case .response(let response): return .respond(answer(response, to: call))
            case .deferred: return .wait
            case .stream(let headers, let content): return .stream(finish(headers, record), content)
            case .later(let perform): return begin(perform, call, responder)
            }
        } catch {
            return .respond(rejection(error, of: call))
        }
    }

    /// Performs a request that may wait: on this thread until the request waits. The task belongs to the connection, which
    /// cancels the task when the client leaves.
    private func begin(
        _ perform: @escaping @Sendable () async throws -> OperationResult,
        _ call: Call,
        _ responder: HTTPResponder
    ) -> HTTPDecision {
        let request = RequestTask()
        responder.onAbandonment { request.cancel() }
        let task = Task.immediate { [self] in
            let answer = await answer(of: perform, call)
            if case .beginning = request.enter(.ended(answer)) { return }
            switch answer {
            case .response(let response): responder.respond(response)
            case .stream(let headers, let stream): responder.stream(headers, stream)
            case nil: break
            }
        }
        switch request.enter(.waiting(task)) {
        case .ended(.response(let response)): return .respond(response)
        case .ended(.stream(let headers, let stream)): return .stream(headers, stream)
        case .beginning(isCancelled: true): task.cancel()
        case .beginning, .ended(nil), .waiting: break
        }
        return .wait
    }

    /// The answer to a request; nil for a long poll, and if the client has left.
    private func answer(of perform: @Sendable () async throws -> OperationResult, _ call: Call) async -> LateAnswer? {
        do {
            switch try await perform() {
            case .response(let response): return .response(answer(response, to: call))
            case .stream(let headers, let stream): return .stream(finish(headers, call.record), stream)
            case .deferred: return nil
            case .later(let perform): return await answer(of: perform, call)
            }
        } catch {
            guard error is CancellationError else { return .response(rejection(error, of: call)) }
            if let redemption = call.redemption { services.access.giveBack(redemption) }
            return nil
        }
    }

    /// From this size on, in bytes, the background queue reads a body, which takes up to 0.25 µs a byte.
    private static let largeBody = 16 * 1024

    /// The response to a request that is refused.
    func rejection(_ error: any Error, of call: Call) -> HTTPResponse {
        if let name = (error as? Problem)?.refusedName { refusedNames.log(name, to: logger) }
        return answer(ProblemDetails.response(to: call, for: error), to: call)
    }

    /// Completes a response. A ticket that has opened no stream stays valid for its stream.
    private func answer(_ response: Response, to call: Call) -> HTTPResponse {
        if let redemption = call.redemption { services.access.giveBack(redemption) }
        return finish(response, call.record, of: call.caller.account)
    }

    /// The operation of a request. Throws `AnsweredRequest` for a request without one.
    private func route(_ call: inout Call) throws -> Operation {
        if call.request.method == "OPTIONS", call.request.rawPath == "*" {
            throw AnsweredRequest(Response(status: 204))
        }
        let match = router.find(method: call.request.method, path: try RequestPath(raw: call.request.rawPath))
        var operation: Operation?
        if case .operation(let found, let parameters) = match {
            operation = found
            let record = call.record
            call.record = CallRecord(
                record.request,
                requestID: record.requestID,
                since: record.since,
                operation: found.name
            )
            call.parameters = parameters
            if found.query != nil, call.request.rawQuery != nil { call.query = try Query(raw: call.request.rawQuery) }
        }
        for middleware in middlewares { try middleware.admit(&call, operation: operation) }
        switch match {
        case .operation(let operation, _):
            if let names = operation.query, call.request.rawQuery != nil {
                try call.query.allow(only: names, advice: operation.advice(on:))
            }
            if operation.mediaTypes == .json, call.request.headers["Accept"] != nil {
                _ = try call.mediaType(outOf: "application/json")
            }
            return operation
        case .options(let allow):
            let response = Response(status: 204).with("Allow", allow.joined(separator: ", "))
            guard allow.contains(Operation.Method.patch.rawValue) else { throw AnsweredRequest(response) }
            throw AnsweredRequest(response.with("Accept-Patch", RequestBody.acceptPatch))
        case .methodNotAllowed(let allow):
            var problem = Problem(.methodNotAllowed, detail: "The path allows \(allow.joined(separator: ", ")).")
            problem.headers.append("Allow", allow.joined(separator: ", "))
            throw problem
        case .notFound:
            let suggestion = router.suggestion(for: try RequestPath(raw: call.request.rawPath))
            let hint = suggestion.map { "did you mean \($0)?" } ?? "/docs lists the operations."
            throw Problem(.notFound, detail: "No operation has this path; \(hint)")
        }
    }
}

/// Headers, metrics and log of every response.
extension HTTPHost {
    /// Completes a response, whose memory counts for an account.
    func finish(_ response: consuming Response, _ record: CallRecord, of account: String?) -> HTTPResponse {
        if response.unexpectedError != nil { logUnexpectedError(of: response, record) }
        decorate(&response.headers, record)
        finished(record, status: response.status, problem: response.problem)
        return response.httpResponse(of: account)
    }

    /// Completes the header lines of a stream.
    func finish(_ headers: HTTPFields, _ record: CallRecord) -> HTTPFields {
        var headers = headers
        decorate(&headers, record)
        finished(record, status: 200, problem: nil)
        return headers
    }

    /// The response to a request, without the headers of this request alone.
    func shared(_ response: consuming Response, with call: Call) -> HTTPResponse {
        decorate(&response.headers, call.record, isShared: true)
        return response.httpResponse(of: call.caller.account)
    }

    private func decorate(_ headers: inout HTTPFields, _ record: CallRecord, isShared: Bool = false) {
        if !isShared { headers.append("X-Request-Id", record.requestID) }
        // Responses are cached only if their own headers permit it, and browsers do not guess media types.
        if headers["Cache-Control"] == nil { headers.append("Cache-Control", "no-store") }
        headers.append("X-Content-Type-Options", "nosniff")
        if !isShared { headers.lines += record.headers }
        for middleware in responseMiddlewares { middleware.finish(&headers, for: record.request) }
    }

    /// Counts and logs a response.
    func finished(_ record: CallRecord, status: Int, problem: ProblemCode?) {
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
