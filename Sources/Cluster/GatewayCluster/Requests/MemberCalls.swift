internal import Gateway
internal import MicroHTTPD
internal import Primitives
internal import Replication

/// Whether the client of a request has left before the response, and the actions to run in that case.
final class CallAbandonment: Sendable {
    private let number: UInt64
    private let cluster: ClusterNode

    /// The client has not left. The number names the call.
    init(of number: UInt64 = .random(in: .min ... .max), in cluster: ClusterNode) {
        (self.number, self.cluster) = (number, cluster)
        cluster.shared.withLock { $0.abandonments[number] = [] }
    }

    // The actions are released outside the lock.
    deinit { _ = cluster.shared.withLock { $0.abandonments.removeValue(forKey: number) } }

    /// Whether the client has left.
    var isAbandoned: Bool { cluster.shared.withLock { $0.abandonments[number] == nil } }

    /// Runs an action when the client leaves; at once if it has left. The action must be quick.
    func add(_ action: @escaping @Sendable () -> Void) {
        let isAbandoned = cluster.shared.withLock { $0.abandonments[number]?.append(action) == nil }
        if isAbandoned { action() }
    }

    /// The client has left: runs the actions, once.
    func abandon() { Self.abandon(number, in: cluster) }

    /// The client of a call has left. Calls that were answered have no number.
    static func abandon(_ number: UInt64, in cluster: ClusterNode) {
        for action in cluster.shared.withLock({ $0.abandonments.removeValue(forKey: number) }) ?? [] { action() }
    }
}

/// Calls between members.
extension ClusterNode {
    /// NATS limits a message to 1 MiB.
    private static let callLimit = 1_000_000

    /// Sends requests to a member and returns its responses, in the same order.
    ///
    /// - Parameter abandonment: When the client has left, the member stops waiting, and the call throws.
    func call(
        _ process: UInt64,
        _ requests: [ForwardedRequest],
        within time: Duration,
        abandonment: CallAbandonment? = nil
    ) async throws -> [ForwardedResponse] {
        do {
            let responses = try await send(requests, to: process, within: time, abandonment)
            shared.withLock { $0.counters.called(.answered) }
            return responses
        } catch {
            let isAbandoned = abandonment?.isAbandoned ?? false
            shared.withLock { $0.counters.called(ClusterCounters.CallOutcome(error, isAbandoned: isAbandoned)) }
            throw error
        }
    }

    private func send(
        _ requests: [ForwardedRequest],
        to process: UInt64,
        within time: Duration,
        _ abandonment: CallAbandonment?
    ) async throws -> [ForwardedResponse] {
        let number = UInt64.random(in: .min ... .max)
        let (member, position, present) = state.withLock {
            ($0.machine.member, $0.machine.position, $0.connection)
        }
        let bytes = MemberCall.perform(requests, number: number, member: member, position: position).bytes
        guard bytes.count <= Self.callLimit else {
            throw EngineError.refused("the request is too large to be forwarded")
        }
        guard let connection = present else { throw EngineError.notConnected("offline") }
        let reply = try await connection.call(process, bytes, within: time) {
            abandonment?.add { connection.notify(process, MemberCall.cancel(number).bytes) }
        }
        guard let responses = try? ForwardedResponse.decoded(reply), responses.count == requests.count
        else { throw EngineError.refused("a reply cannot be read") }
        return responses
    }

    /// Handles a message of another member.
    func answer(_ bytes: [UInt8], replyTo address: String?) {
        guard let connection = state.withLock({ $0.connection }), let call = try? MemberCall(bytes) else { return }
        switch call {
        case .perform(let requests, let number, let member, let position):
            guard let address else { return }
            perform(requests, number, of: member, at: position) {
                connection.reply(ForwardedResponse.encoded($0), to: address)
            }
        case .cancel(let number):
            CallAbandonment.abandon(number, in: self)
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        _ number: UInt64,
        of member: UInt64,
        at position: UInt64,
        _ reply: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        guard let host else { return }
        let abandonment = CallAbandonment(of: number, in: self)
        guard state.withLock({ $0.machine.position }) < position else {
            return perform(requests, of: member, at: position, on: host, abandonment, reply)
        }
        addJob { [self] in
            // The member that calls has applied more of the log, which may have given this one the resource.
            _ = await holds(until: clock() + Self.logTimeout) { machine, _ in machine.position >= position }
            perform(requests, of: member, at: position, on: host, abandonment, reply)
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        of member: UInt64,
        at position: UInt64,
        on host: HTTPHost,
        _ abandonment: CallAbandonment,
        _ reply: @escaping @Sendable ([ForwardedResponse]) -> Void
    ) {
        guard servesResources, state.withLock({ $0.machine.ledger?.members[member] != nil }) else {
            // Without the engine, another member may have become the owner in the meantime. The call of a removed
            // member is late: later changes may have been confirmed since.
            return reply(requests.map { _ in ForwardedResponse(status: ForwardedResponse.misdirected) })
        }
        let isBehind = state.withLock { $0.machine.position } < position
        let responses = host.serve(requests, abandonment, for: self, isBehind: isBehind)
        // The reply without responses ends the call on the other member.
        addJob { reply(await responses.all()) }
    }
}

/// Requests that other members of the cluster forward. The forwarding member has authenticated and counted the callers.
extension HTTPHost {
    /// Begins to handle requests; returns their responses to come.
    ///
    /// - Parameter isBehind: Whether the member that forwards them has applied more of the log than this one.
    func serve(
        _ requests: [ForwardedRequest],
        _ abandonment: CallAbandonment,
        for cluster: ClusterNode,
        isBehind: Bool = false
    ) -> ForwardedResponses {
        let (stream, source) = AsyncStream.makeStream(of: (Int, ForwardedResponse).self)
        for (index, request) in requests.enumerated() {
            serve(request, abandonment, for: cluster, isBehind) { source.yield((index, $0.forwarded)) }
        }
        abandonment.add { source.finish() }
        return ForwardedResponses(count: requests.count, stream: stream, abandonment: abandonment)
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
            let perform: @Sendable () -> Void = { [self, call] in
                guard isHere(call, in: cluster, isBehind) else {
                    return respond(Response(status: ForwardedResponse.misdirected))
                }
                call.complete { try cluster.performHere(call, operation) }
            }
            guard let id = parameters["id"], cluster.holder(of: id) == .own, !services.has(id) else { return perform() }
            // This member is recreating the resource.
            cluster.addJob { [services] in
                let (place, deadline) = (cluster.place(of: id), cluster.clock() + ClusterNode.logTimeout)
                _ = await cluster.changes(of: id, since: place, until: deadline) { services.has(id) }
                perform()
            }
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

/// The responses to the requests of one call.
struct ForwardedResponses: Sendable {
    fileprivate let count: Int
    fileprivate let stream: AsyncStream<(Int, ForwardedResponse)>
    fileprivate let abandonment: CallAbandonment

    /// The responses in the order of the requests; none when the client has left, or this member stops.
    func all() async -> [ForwardedResponse] {
        var responses = [ForwardedResponse?](repeating: nil, count: count)
        var missing = count
        if missing == 0 { return [] }
        for await (index, response) in stream where responses[index] == nil {
            responses[index] = response
            missing -= 1
            if missing == 0 { return responses.compactMap(\.self) }
        }
        return []
    }
}
