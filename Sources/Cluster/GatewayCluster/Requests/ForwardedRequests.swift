internal import Gateway
internal import MicroHTTPD
internal import Replication
internal import Synchronization

/// Requests that other members of the cluster forward. The forwarding member has authenticated and counted the callers.
extension HTTPHost {
    /// Handles requests, and responds once all of them have a response.
    ///
    /// - Parameter isBehind: Whether the member that forwards them has applied more of the log than this one.
    func serve(
        _ requests: [ForwardedRequest],
        _ abandonment: CallAbandonment,
        for cluster: ClusterNode,
        isBehind: Bool = false,
        _ respond: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        let responses = ForwardedResponses(count: requests.count, respond)
        for (index, request) in requests.enumerated() {
            serve(request, abandonment, for: cluster, isBehind) { responses.set($0.forwarded, at: index) }
        }
    }

    private func serve(
        _ request: ForwardedRequest,
        _ abandonment: CallAbandonment,
        for cluster: ClusterNode,
        _ isBehind: Bool,
        _ respond: @escaping PendingResponse.Send
    ) {
        let record = CallRecord(HTTPRequest(request), requestID: request.requestID, since: services.clock())
        var call = Call(record: record) { [self] response in
            logUnexpectedError(of: response, record)
            respond(response)
        }
        call.body = request.body
        call.caller = Caller(request.caller)
        call.isListing = request.isListing
        call.isForwarded = true
        call.onAbandonment = abandonment.add
        do {
            let path = try RequestPath(raw: request.path)
            guard case .operation(let operation, let parameters) = router.find(method: request.method, path: path)
            else { throw Problem(.notFound) }
            call.parameters = parameters
            if operation.query != nil { call.query = try Query(raw: request.query) }
            guard isHere(call, in: cluster, isBehind) else {
                return respond(Response(status: ForwardedResponse.misdirected))
            }
            call.complete { try cluster.performHere(call, operation) }
        } catch {
            call.respond(ProblemDetails.response(to: call, for: error))
        }
    }

    /// Whether this member handles the request: it has the resource, or no member has it.
    private func isHere(_ call: Call, in cluster: ClusterNode, _ isBehind: Bool) -> Bool {
        guard let id = call.parameters["id"], !services.has(id) else { return true }
        return !isBehind && cluster.holder(of: id) == .unknown
    }
}

/// The responses to the requests of one call, in their order.
private final class ForwardedResponses: Sendable {
    private let responses: Mutex<[ForwardedResponse?]>
    private let respond: @Sendable ([ForwardedResponse]) -> Void

    init(count: Int, _ respond: @escaping @Sendable ([ForwardedResponse]) -> Void) {
        responses = Mutex(Array(repeating: nil, count: count))
        self.respond = respond
        if count == 0 { respond([]) }
    }

    func set(_ response: ForwardedResponse, at index: Int) {
        let all: [ForwardedResponse]? = responses.withLock { responses in
            guard responses[index] == nil else { return nil }
            responses[index] = response
            let complete = responses.compactMap { $0 }
            return complete.count == responses.count ? complete : nil
        }
        if let all { respond(all) }
    }
}

extension HTTPRequest {
    fileprivate init(_ request: ForwardedRequest) {
        self.init(
            method: request.method,
            rawPath: request.path,
            rawQuery: request.query,
            headers: HTTPFields(request.headers.map { HTTPField($0.name, $0.value) }),
            peer: PeerAddress(host: request.peer, port: 0)
        )
    }
}
