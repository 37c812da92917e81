package import Logging
package import MicroHTTPD
internal import SessionCore
package import SessionPool

/// Handles every HTTP request: routing, middleware, idempotency, errors, common headers, metrics and log.
package final class HTTPHost: HTTPHandler {
    private let services: Services
    private let router: Router
    private let middlewares: [any Middleware]
    private let idempotency = IdempotencyStore()
    private let requests: RequestMetrics
    private let logger: Logger

    /// A host over the pool and the streams.
    ///
    /// - Parameters:
    ///   - access: Authentication and authorization.
    ///   - requests: The metrics of requests.
    ///   - metrics: Returns the Prometheus text of `GET /metrics`.
    package convenience init(
        current: LiveConfiguration,
        access: AccessControl,
        pool: SessionPool,
        streams: StreamRegistry,
        requests: RequestMetrics,
        logger: Logger,
        cluster: ClusterNode? = nil,
        metrics: @escaping @Sendable () -> String = { "" }
    ) {
        let services = Services(
            current: current,
            access: access,
            pool: pool,
            streams: streams,
            streamResources: StreamResources(),
            timers: TimerQueue(clock: Moment.monotonic),
            process: ProcessState(startedAt: Moment.monotonic()),
            docs: DocsPage(),
            metrics: metrics,
            clock: Moment.monotonic,
            cluster: cluster
        )
        self.init(services: services, middlewares: Self.guards(services), requests: requests, logger: logger)
    }

    /// Authentication, authorization and limits, in the order in which requests pass them.
    static func guards(_ services: Services) -> [any Middleware] {
        let access = services.access
        return [
            CORSMiddleware { access.policy },
            KnownHosts { access.policy },
            RateLimit(.address, rules: { access.policy.configuration.limits }, clock: services.clock),
            access,
            RateLimit(.caller, rules: { access.policy.configuration.limits }, clock: services.clock),
        ]
    }

    init(
        services: Services,
        middlewares: [any Middleware],
        requests: RequestMetrics = RequestMetrics(),
        logger: Logger
    ) {
        self.services = services
        self.middlewares = middlewares
        self.requests = requests
        self.logger = logger
        router = Router(OperationTable.operations(services))
    }

    /// Runs the timers of waiting requests until cancelled; then all waiting requests get their responses.
    package func run() async {
        let services = services
        await withTaskGroup(of: Void.self) { group in
            group.addTask { services.docs.render() }
            group.addTask { await services.background.run() }
            await services.timers.run()
        }
    }

    /// Rejects new streams, reports not ready, and responds to all waiting requests.
    package func stopAccepting() {
        services.process.stop()
        services.timers.stop()
        services.background.stop()
    }

    // MARK: - HTTPHandler

    /// Responds to a request at once, later, or with a stream.
    package func handle(_ request: HTTPRequest, _ responder: HTTPResponder) -> HTTPDecision {
        decide(request) { responder.respond($0) }
    }

    /// Responds to a request. After `.wait` the response goes to `later`.
    func decide(_ request: HTTPRequest, later: @escaping @Sendable (HTTPResponse) -> Void) -> HTTPDecision {
        var request = request
        request.peer = services.access.policy.proxies.client(of: request)
        let id = RequestIdentity.id(of: request)
        let record = CallRecord(since: services.clock())
        let bare = Call(request: request, requestID: id, record: record, respond: { _ in })
        let finish = finisher(bare)
        var call = Call(
            request: request,
            requestID: id,
            record: record,
            respond: { later(finish($0)) }
        )
        do {
            switch try perform(&call) {
            case .response(let response): return .respond(finish(response))
            case .deferred: return .wait
            case .stream(var head, let content):
                decorate(&head.headers, call)
                finished(call, status: head.status, problem: nil)
                return .stream(head, content)
            }
        } catch {
            let problem = ProblemDetails.problem(for: error)
            if problem.code == .internal { logger.error("\(error)", metadata: metadata(call)) }
            return .respond(finish(ProblemDetails.response(problem, requestID: id)))
        }
    }

    /// The response to a request that the HTTP server rejected.
    package func refusal(for refusal: RequestRefusal) -> HTTPResponse {
        let problem = ProblemDetails.problem(for: refusal)
        let id = RequestIdentity.make()
        requests.record(route: nil, method: nil, status: refusal.status, problem: problem.code, took: .zero)
        logger.debug("request refused", metadata: ["request": "\(id)", "status": "\(refusal.status)"])
        let response = ProblemDetails.response(problem, requestID: id, status: refusal.status)
        return response.with("X-Request-Id", id).httpResponse
    }

    // MARK: - Steps

    private func perform(_ call: inout Call) throws -> OperationResult {
        if call.request.method == "OPTIONS", call.request.rawPath == "*" { return .response(Response(status: 204)) }
        let match = router.find(method: call.request.method, path: try RequestPath(raw: call.request.rawPath))
        var operation: Operation?
        if case .operation(let found, let parameters) = match {
            operation = found
            call.record.operation = found.name
            call.parameters = parameters
            if found.query != nil { call.query = try Query(raw: call.request.rawQuery) }
        }
        for middleware in middlewares {
            if let response = try middleware.admit(&call, operation: operation) { return .response(response) }
        }
        switch match {
        case .operation(let operation, _):
            if let names = operation.query { try call.query.allow(only: names) }
            if operation.mediaTypes == .json {
                _ = try AcceptHeader(call.header("Accept")).choose(["application/json"])
            }
            return try once(call, operation)
        case .options(let allow):
            return .response(Response(status: 204).with("Allow", allow.joined(separator: ", ")))
        case .methodNotAllowed(let allow):
            var problem = Problem(
                .methodNotAllowed,
                detail: "The path allows \(allow.joined(separator: ", "))."
            )
            problem.headers.append("Allow", allow.joined(separator: ", "))
            throw problem
        case .notFound:
            throw Problem(.notFound, detail: "No operation has this path.")
        }
    }

    /// Calls the handler. A POST with an `Idempotency-Key` is performed once.
    private func once(_ call: Call, _ operation: Operation) throws -> OperationResult {
        guard operation.method == .post, let header = call.header("Idempotency-Key") else {
            return try operation.handler(call)
        }
        guard (1...255).contains(header.utf8.count) else {
            throw Problem(.malformed, detail: "An Idempotency-Key has 1 to 255 characters.")
        }
        let key = IdempotencyStore.Key(caller: call.caller.identity, path: call.request.rawPath, key: header)
        switch idempotency.begin(key, body: call.request.body, now: services.clock()) {
        case .perform: return try first(call, operation, key)
        case .replay(let response): return .response(response.with("Idempotency-Replayed", "true"))
        case .inProgress:
            throw Problem(.idempotencyConflict, detail: "The first request with this key is still being processed.")
        case .otherRequest:
            throw Problem(.idempotencyConflict, detail: "The key was used for a request with another body.")
        }
    }

    private func first(_ call: Call, _ operation: Operation, _ key: IdempotencyStore.Key) throws -> OperationResult {
        let store = idempotency
        var noted = call
        noted.respond = { response in
            store.finished(key, with: response)
            call.respond(response)
        }
        do {
            let reply = try operation.handler(noted)
            if case .response(let response) = reply { store.finished(key, with: response) }
            return reply
        } catch {
            let problem = ProblemDetails.problem(for: error)
            let response = ProblemDetails.response(problem, requestID: call.requestID)
            store.finished(key, with: response)
            throw error
        }
    }

    // MARK: - Headers, metrics and log of every response

    private func finisher(_ call: Call) -> @Sendable (Response) -> HTTPResponse {
        { [self] response in
            var finished = response.httpResponse
            decorate(&finished.headers, call)
            self.finished(call, status: response.status, problem: response.problem)
            return finished
        }
    }

    private func decorate(_ headers: inout HTTPFields, _ call: Call) {
        headers.append("X-Request-Id", call.requestID)
        // Responses are not cached unless they say so, and browsers do not guess media types.
        if headers["Cache-Control"] == nil { headers.append("Cache-Control", "no-store") }
        headers.append("X-Content-Type-Options", "nosniff")
        headers.lines += call.record.headers.lines
        for middleware in middlewares.reversed() { middleware.finish(&headers, for: call) }
    }

    private func finished(_ call: Call, status: Int, problem: ProblemCode?) {
        let took = services.clock() - call.record.since
        requests.record(
            route: call.record.operation,
            method: call.request.method,
            status: status,
            problem: problem,
            took: took
        )
        logger.debug(
            "request",
            metadata: metadata(call).merging(["status": "\(status)", "seconds": "\(took.roundedSeconds)"]) { $1 }
        )
    }

    /// The query is not logged: it may hold secrets.
    private func metadata(_ call: Call) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "method": "\(call.request.method)", "path": "\(call.request.rawPath)", "request": "\(call.requestID)",
            "client": "\(call.request.peer.host)",
        ]
        if let trace = RequestIdentity.trace(of: call.request) { metadata["trace"] = "\(trace)" }
        return metadata
    }
}
