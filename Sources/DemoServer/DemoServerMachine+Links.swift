internal import TLCP

/// Connections, and the requests that bind sessions to them.
extension DemoServerMachine {
    /// A client requested a WebSocket. Returns the HTTP status of the refusal; nil: the WebSocket is granted.
    package mutating func webSocketRequested(at now: Duration) -> Int? {
        context.now = now
        var refusal: Int?
        for effect in context.faults.effects(at: .handshake) {
            switch effect {
            case .status(let status): refusal = status
            case .refuse, .error, .drop, .ignore: refusal = 403
            default: break
            }
        }
        if context.links.links.count >= context.configuration.limits.connections { refusal = 503 }
        return refusal
    }

    /// A WebSocket is open. `subprotocol`: the requested one, nil: the client named none of TLCP; `peer`: the client's address.
    package mutating func webSocketOpened(
        _ id: LinkID,
        subprotocol: String?,
        from peer: String,
        at now: Duration
    ) -> [ServerAction] {
        context.now = now
        var link = Link(kind: .webSocket, peer: peer, openedAt: now, lastReceived: now)
        let version = subprotocol.flatMap(ProtocolVersion.init(webSocketSubprotocol:))
        if let version { link.version = version }
        if version?.isServed != true { link.versionRejection = .unsupportedVersion(subprotocol, .connection) }
        context.links.add(link, as: id)
        context.timers.set(.idle(id), at: now + context.configuration.timings.idleSocket)
        return settle()
    }

    /// A text message was received on a WebSocket.
    package mutating func received(message: [UInt8], on id: LinkID, at now: Duration) -> [ServerAction] {
        context.now = now
        guard let link = context.links[id], !link.faults.isHalfOpen else { return settle() }
        context.links[id]?.lastReceived = now
        guard message.count <= context.configuration.limits.request else {
            // The session can be recovered.
            context.links.end(id, .close(code: 1_009))
            if let session = link.stream { sessions[session]?.connection.broke(id, &context) }
            context.links[id]?.stream = nil
            return settle()
        }
        dispatch(RequestParser.parse(webSocketMessage: message[...]), on: id)
        return settle()
    }

    /// An HTTP request was received; the link stands for the request and its response. `peer`: the client's address;
    /// `opening`: when the client opened the connection, nil: now.
    package mutating func requested(
        _ request: HTTPRequestText,
        on id: LinkID,
        from peer: String,
        connectedAt opening: Duration? = nil,
        at now: Duration
    ) -> [ServerAction] {
        context.now = now
        guard let name = name(of: request.path) else {
            return [.respond(id, testResponse(to: request) ?? HTTPAnswer(status: 404))] + settle()
        }
        guard request.method == "POST" || request.method == "GET" else {
            return [.respond(id, HTTPAnswer(status: 405))]
        }
        guard max(request.body.count, request.query.utf8.count) <= context.configuration.limits.request else {
            return [.respond(id, HTTPAnswer(status: 413, closesSocket: true))]
        }
        guard context.links.links.count < context.configuration.limits.connections else {
            return [.respond(id, HTTPAnswer(status: 503, closesSocket: true))]
        }
        var link = Link(kind: .exchange, peer: peer, openedAt: opening ?? now, lastReceived: now)
        if let version = ProtocolVersion(query: request.query) { link.version = version }
        context.links.add(link, as: id)
        dispatch(RequestParser.parse(name, query: Array(request.query.utf8)[...], body: request.body[...]), on: id)
        return settle()
    }

    /// A connection was closed by the peer, or broke.
    package mutating func closed(_ id: LinkID, at now: Duration) -> [ServerAction] {
        context.now = now
        context.timers.cancel(.idle(id))
        context.timers.cancel(.stall(id))
        context.timers.cancel(.stuck(id))
        context.lateAnswers.ended(id)
        if let session = context.links.remove(id)?.stream { sessions[session]?.connection.broke(id, &context) }
        return settle()
    }

    /// The peer of a connection accepts bytes again, or no more for now.
    package mutating func writabilityChanged(of id: LinkID, to takesBytes: Bool, at now: Duration) -> [ServerAction] {
        context.now = now
        context.links[id]?.takesBytes = takesBytes
        if takesBytes {
            context.timers.cancel(.stuck(id))
            if let session = context.links[id]?.stream { sessions[session]?.pump(&context) }
        } else if context.links[id] != nil {
            context.timers.set(.stuck(id), at: now + context.configuration.timings.stuckWrite)
        }
        return settle()
    }

    /// Stops the server: closes every session and every connection.
    package mutating func shutDown(at now: Duration) -> [ServerAction] {
        context.now = now
        for handle in sessions.open.keys.sorted() {
            sessions[handle]?.end(SessionEnd(code: 32, message: "Server closing"), isRemembered: false, &context)
        }
        for id in context.links.links.keys.sorted() {
            let isWebSocket = context.links[id]?.kind == .webSocket
            context.links.end(id, isWebSocket ? .close(code: 1_001) : .complete(closesSocket: true))
        }
        return settle()
    }

    private func name(of path: String) -> RequestName? {
        let prefix = context.configuration.pathPrefix
        guard path.hasPrefix(prefix + "/lightstreamer/") else { return nil }
        let rest = path.dropFirst(prefix.count)
        guard rest.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 else { return nil }
        return RequestName(httpPath: String(rest))
    }

    /// Executes the requests of one message or HTTP request.
    private mutating func dispatch(_ outcomes: [RequestParser.Outcome], on id: LinkID) {
        switch outcomes.first {
        case .success(.createSession(let request)): create(request, on: id)
        case .success(.bindSession(let request)): bind(request, on: id)
        case .success(.wsok): greet(id)
        case .success(.heartbeat(let request)): heartbeat(request, on: id)
        case .failure(let refusal) where refusal.carrier == .connection: context.refuse(id, refusal.notification)
        default: runBatch(outcomes, on: id)
        }
    }

    private mutating func greet(_ id: LinkID) {
        let effects = context.faults.effects(at: .wsok)
        for effect in effects {
            switch effect {
            case .ignore, .loseAnswer: return
            case .duplicateAnswer: context.write(ServerNotification.wsOK.encoded, on: id)
            default: context.links.apply(id, effect, at: context.now, &context.timers)
            }
        }
        context.write(ServerNotification.wsOK.encoded, on: id)
    }

    private mutating func heartbeat(_ request: HeartbeatRequest, on id: LinkID) {
        guard let link = context.links[id] else { return }
        let session = request.sessionID.map { sessions.handle(of: $0) } ?? link.defaultSession
        if let session { sessions[session]?.connection.requestReceived(at: context.now) }
        var batch = ResponseBatch(link: id, isWebSocket: link.kind == .webSocket)
        let faults = batch.faults(at: .heartbeat, nil, &context)
        if let refusal = faults.refusal {
            batch.answer(refusal, faults, &context)
        } else if !batch.isWebSocket, !faults.isIgnored {
            batch.answer(.reqOK(nil), faults, &context)
        }
        batch.finish(&context)
    }

    // MARK: - Creations and binds

    private mutating func create(_ request: CreateSessionRequest, on id: LinkID) {
        let effects = context.faults.effects(at: .create)
        guard let faults = context.apply(effects, isStreaming: !request.connection.isPolling, on: id),
            let link = context.links[id]
        else { return }
        if let refusal = link.refusal ?? refusal(of: request)?.conErr { return context.refuse(id, refusal) }
        let additions: [(AddRequest, SubscriptionPlan)]
        do throws(RequestRejection) {
            additions = try plans(of: request.operations)
        } catch {
            return context.refuse(id, error.notification)
        }
        let handle = sessions.create(request, version: link.version)
        for (addition, plan) in additions { subscribe(addition, plan, of: handle) }
        for operation in request.operations { execute(operation, in: handle) }
        _ = sessions[handle]?.bind(to: id, request.connection, isCreation: true, &context)
        for effect in faults { sessions[handle]?.apply(effect, &context) }
    }

    private mutating func bind(_ request: BindSessionRequest, on id: LinkID) {
        let isRecovery = request.recoveryFrom != nil
        let effects = context.faults.effects(at: isRecovery ? .recovery : .bind)
        guard let faults = context.apply(effects, isStreaming: !request.connection.isPolling, on: id),
            let link = context.links[id]
        else { return }
        if let refusal = link.refusal { return context.refuse(id, refusal) }
        let named = request.sessionID.map { sessions.handle(of: $0) } ?? link.lastSession
        guard let handle = named, sessions[handle] != nil else {
            let end = named.flatMap { sessions.end(of: $0) }
            let unknown = ServerNotification.conErr(code: 20, message: "Session not found")
            return context.refuse(id, end.map { .end(code: $0.code, message: $0.message) } ?? unknown)
        }
        guard !effects.contains(.refuseRecovery),
            sessions[handle]?.bind(to: id, request.connection, recoveryFrom: request.recoveryFrom, &context) == true
        else { return context.refuse(id, .conErr(code: 4, message: "Recovery not possible")) }
        for effect in faults { sessions[handle]?.apply(effect, &context) }
    }

    private func refusal(of request: CreateSessionRequest) -> ControlRefusal? {
        let refusal = metadata.refusal(adapterSet: request.adapterSet, user: request.user, password: request.password)
        if let refusal { return refusal }
        guard sessions.open.count < context.configuration.limits.sessions else {
            return ControlRefusal(code: 8, message: "Session count limit reached")
        }
        return nil
    }

    /// The plans of the `add`s of a combined creation; one invalid operation fails the creation.
    private func plans(
        of operations: [ControlOperation]
    ) throws(RequestRejection) -> [(AddRequest, SubscriptionPlan)] {
        var plans: [(AddRequest, SubscriptionPlan)] = []
        for operation in operations {
            switch operation {
            case .add(let request):
                do throws(ControlRefusal) {
                    try admit(request, beside: plans.map { $0.0 })
                    try plans.append((request, plan(request, beside: plans.map { $0.1 })))
                } catch {
                    throw .creation(error.message, of: "\(request.subscriptionID)")
                }
            case .reconf(let request) where plans.contains { $0.0.subscriptionID == request.subscriptionID }:
                continue
            case .constrain:
                continue
            case .reconf, .delete, .forceRebind, .destroy, .mpnRegister, .mpnResetBadge:
                throw .creation("operation not possible in a creation")
            }
        }
        return plans
    }

    /// Throws if an `add` of a combined creation has the ID of another `add`, or exceeds the limit of subscriptions.
    private func admit(_ request: AddRequest, beside others: [AddRequest]) throws(ControlRefusal) {
        if others.contains(where: { $0.subscriptionID == request.subscriptionID }) {
            throw ControlRefusal(code: 65, message: "Subscription ID in use")
        }
        if others.count >= context.configuration.limits.subscriptions { throw .tooManySubscriptions }
    }
}
