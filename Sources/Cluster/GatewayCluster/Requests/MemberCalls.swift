internal import Gateway
internal import MicroHTTPD
internal import Primitives
internal import Replication

/// A call of another member that is being performed.
struct PerformedCall: Sendable {
    let task: Task<[Response], Never>
    /// What ends the waits of its requests before their time.
    let waitEnd: Awaited<Void>
}

/// Calls between members.
extension ClusterNode {
    /// NATS limits a message to 1 MiB.
    private static let callLimit = 1_000_000

    /// Sends requests to a member and returns its responses, in the same order. Cancellation of the task ends the requests on
    /// the member, and the call throws; so does the removal of the member, with `EngineError.removed`.
    ///
    /// - Parameter waitEnd: Has the member respond as if the time of the waits of the requests had ended.
    func call(
        _ process: UInt64,
        _ requests: [ForwardedRequest],
        within time: Duration,
        endingWaits waitEnd: Awaited<Void>? = nil
    ) async throws -> [Response] {
        do {
            let responses = try await whileMember(process) { [self] in
                try await send(requests, to: process, within: time, waitEnd)
            }
            shared.withLock { $0.counters.called(.answered) }
            return responses
        } catch {
            let isAbandoned = Task.isCancelled
            shared.withLock { $0.counters.called(ClusterCounters.CallOutcome(error, isAbandoned: isAbandoned)) }
            throw error
        }
    }

    /// Makes a call to a process, and cancels it when the log removes the member that the process is.
    private func whileMember<Reply: Sendable>(
        _ process: UInt64,
        _ call: @escaping @Sendable () async throws -> Reply
    ) async throws -> Reply {
        guard let member = state.withLock({ $0.machine.member(of: process) }) else { return try await call() }
        let task = Task.immediate { try await call() }
        let number = reports.withLock { $0.addCall(to: member) { task.cancel() } }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isRemoved = !reports.withLock { $0.removeCall(number, to: member) }
        if isRemoved, case .failure = result { throw EngineError.removed }
        return try result.get()
    }

    private func send(
        _ requests: [ForwardedRequest],
        to process: UInt64,
        within time: Duration,
        _ waitEnd: Awaited<Void>?
    ) async throws -> [Response] {
        let number = UInt64.random(in: .min ... .max)
        let (member, position, present) = state.withLock {
            ($0.machine.member, $0.machine.position, $0.link?.connection)
        }
        let bytes = MemberCall.perform(requests, number: number, member: member, position: position).bytes
        guard bytes.count <= Self.callLimit else {
            guard requests.count > 1 else { throw EngineError.refused("the request is too large to be forwarded") }
            // The requests for the entries of a list, each with the rights of the caller.
            let half = requests.count / 2
            let first = try await send(Array(requests[..<half]), to: process, within: time, waitEnd)
            return first + (try await send(Array(requests[half...]), to: process, within: time, waitEnd))
        }
        guard let connection = present else { throw EngineError.notConnected("offline") }
        let cancellation = Awaited<Void>()
        let reply = try await withTaskCancellationHandler {
            try await connection.call(process, bytes, within: time) {
                cancellation.onEnd { connection.notify(process, MemberCall.cancel(number).bytes) }
                waitEnd?.onEnd { connection.notify(process, MemberCall.endWaits(number).bytes) }
            }
        } onCancel: {
            cancellation.end(.success(()))
        }
        guard let responses = try? Wire.responses.value(reply), responses.count == requests.count
        else { throw EngineError.refused("a reply cannot be read") }
        return responses
    }

    func answer(_ bytes: [UInt8], _ reply: EngineReply?) {
        guard let call = try? MemberCall(bytes) else { return }
        switch call {
        case .perform(let requests, let number, let member, let position):
            guard let reply, let host else { return }
            let waitEnd = Awaited<Void>()
            let task = Task.immediate { await perform(requests, of: member, at: position, on: host, waitEnd) }
            shared.withLock { $0.calls[number] = PerformedCall(task: task, waitEnd: waitEnd) }
            addJob { [self] in
                let responses = await withTaskCancellationHandler {
                    await task.value
                } onCancel: {
                    task.cancel()
                }
                // The reply without responses ends the call on the other member.
                reply(Wire.responses.bytes(responses))
                _ = shared.withLock { $0.calls.removeValue(forKey: number) }
                resourceChanged(Self.ownChanges)
            }
        case .cancel(let number): shared.withLock { $0.calls.removeValue(forKey: number) }?.task.cancel()
        case .endWaits(let number): shared.withLock { $0.calls[number] }?.waitEnd.end(.success(()))
        case .lastReads(let topics):
            guard let reply else { return }
            // Beside the node's task, which applies the log.
            addJob { [self] in reply(Wire.ages.bytes(agesOfReads(of: topics))) }
        }
    }

    private func perform(
        _ requests: [ForwardedRequest],
        of member: UInt64,
        at position: UInt64,
        on host: HTTPHost,
        _ waitEnd: Awaited<Void>
    ) async -> [Response] {
        if state.withLock({ $0.machine.position }) < position {
            // The member that calls has applied more of the log, which may have given this one the resource.
            _ = await holds(until: clock() + Self.logTimeout) { machine, _ in machine.position >= position }
        }
        guard !reports.withLock({ $0.isLeaving }), servesResources,
            state.withLock({ $0.machine.ledger?.members[member] != nil })
        else {
            // Another member becomes the owner, or may have become it in the meantime without the engine. The call of a removed
            // member is late: later changes may have been confirmed since.
            return requests.map { _ in Response(status: Response.misdirected) }
        }
        let isBehind = state.withLock { $0.machine.position } < position
        return await host.serve(requests, for: self, isBehind: isBehind, waitEnd)
    }
}

/// Requests that other members of the cluster forward. The forwarding member has authenticated and counted the callers.
extension HTTPHost {
    /// Performs requests, and returns their responses in the same order; none when the task was cancelled.
    ///
    /// - Parameter isBehind: Whether the member that forwards them has applied more of the log than this one.
    func serve(
        _ requests: [ForwardedRequest],
        for cluster: ClusterNode,
        isBehind: Bool = false,
        _ waitEnd: Awaited<Void>? = nil
    ) async -> [Response] {
        await withTaskGroup(of: (Int, Response?).self) { group in
            for (index, request) in requests.enumerated() {
                group.addImmediateTask { [self] in (index, try? await serve(request, for: cluster, isBehind, waitEnd)) }
            }
            var responses = [Response?](repeating: nil, count: requests.count)
            for await (index, response) in group { responses[index] = response }
            let all = responses.compactMap(\.self)
            return all.count == requests.count ? all : []
        }
    }

    private func serve(
        _ request: ForwardedRequest,
        for cluster: ClusterNode,
        _ isBehind: Bool,
        _ waitEnd: Awaited<Void>?
    ) async throws -> Response {
        let record = CallRecord(request.http, requestID: request.requestID, since: services.clock())
        var call = Call(record: record)
        call.body = request.body
        call.caller = request.caller
        services.access.count(&call.caller, from: request.http.peer.host)
        call.isListing = request.isListing
        call.isForwarded = true
        call.waitEnd = waitEnd
        let response = try await call.response { [self] call in
            let path = try RequestPath(raw: request.http.rawPath)
            guard case .operation(let operation, let parameters) = router.find(method: request.http.method, path: path)
            else { throw Problem(.notFound) }
            var call = call
            call.parameters = parameters
            if operation.query != nil { call.query = try Query(raw: request.http.rawQuery) }
            let id = operation.resource(of: call)
            if let id, cluster.holder(of: id) == .own, !cluster.has(id) {
                // This member is recreating the resource.
                let (place, deadline) = (cluster.place(of: id), cluster.clock() + ClusterNode.logTimeout)
                _ = await cluster.changes(of: id, since: place, until: deadline) { cluster.has(id) }
            }
            let isHere = id.map { cluster.has($0) || !isBehind && cluster.holder(of: $0) == .unknown } ?? true
            return isHere ? try await cluster.performHere(call, operation) : .misdirected
        }
        logUnexpectedError(of: response, record)
        return response
    }
}
