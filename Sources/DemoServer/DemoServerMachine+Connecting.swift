internal import TLCP

extension DemoServerMachine {
    mutating func create(_ request: CreateSessionRequest, on id: LinkID) {
        let effects = context.faults.effects(at: .create)
        guard let faults = apply(effects, isStreaming: !request.connection.isPolling, on: id),
            let link = context.links[id]
        else { return }
        if let refusal = refusal(on: link) ?? refusal(of: request)?.conErr { return refuse(id, refusal) }
        let additions: [(AddRequest, SubscriptionPlan)]
        do throws(RequestRejection) {
            additions = try plans(of: request.operations)
        } catch {
            return refuse(id, error.notification)
        }
        let handle = sessions.create(request, version: link.version)
        for (addition, plan) in additions { subscribe(addition, plan, of: handle) }
        for operation in request.operations { execute(operation, in: handle) }
        _ = sessions[handle]?.bind(to: id, request.connection, isCreation: true, &context)
        for effect in faults { sessions[handle]?.apply(effect, &context) }
    }

    mutating func bind(_ request: BindSessionRequest, on id: LinkID) {
        let isRecovery = request.recoveryFrom != nil
        let effects = context.faults.effects(at: isRecovery ? .recovery : .bind)
        guard let faults = apply(effects, isStreaming: !request.connection.isPolling, on: id),
            let link = context.links[id]
        else { return }
        if let refusal = refusal(on: link) { return refuse(id, refusal) }
        let named = request.sessionID.map { sessions.handle(of: $0) } ?? link.lastSession
        guard let handle = named, sessions[handle] != nil else {
            let end = named.flatMap { sessions.end(of: $0) }
            let unknown = ServerNotification.conErr(code: 20, message: "Session not found")
            return refuse(id, end.map { .end(code: $0.code, message: $0.message) } ?? unknown)
        }
        guard !effects.contains(.refuseRecovery),
            sessions[handle]?.bind(to: id, request.connection, recoveryFrom: request.recoveryFrom, &context) == true
        else { return refuse(id, .conErr(code: 4, message: "Recovery not possible")) }
        for effect in faults { sessions[handle]?.apply(effect, &context) }
    }

    /// Answers a create or bind with one line. The line ends an HTTP response; a WebSocket stays open for another
    /// attempt.
    mutating func refuse(_ id: LinkID, _ notification: ServerNotification) {
        context.write(notification.encoded, on: id)
        if context.links[id]?.kind == .webSocket {
            if context.links[id]?.stream == nil { context.links[id]?.defaultSession = nil }
        } else {
            context.links.end(id, .complete(closesSocket: false))
        }
    }

    /// Why a connection can carry no session; nil: it can.
    private func refusal(on link: Link) -> ServerNotification? {
        if let rejection = link.versionRejection { return rejection.notification }
        return link.stream == nil ? nil : .conErr(code: 69, message: "A streaming is already in place")
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

    /// Applies the effects of faults to a create or bind, and those of faults of streaming connections. Returns the effects
    /// for the stream once it is bound; nil: a fault has answered the request.
    private mutating func apply(_ effects: [FaultEffect], isStreaming: Bool, on id: LinkID) -> [FaultEffect]? {
        var onStream: [FaultEffect] = []
        for effect in effects + (isStreaming ? context.faults.effects(at: .streaming) : []) {
            switch effect {
            case .refuse(let code, let message):
                refuse(id, .conErr(code: code, message: message))
                return nil
            case .end(let code, let message):
                refuse(id, .end(code: code, message: message))
                return nil
            case .error(let code, let message):
                refuse(id, .error(code: code, message: message))
                return nil
            case .status(let status):
                context.links.respond(id, HTTPAnswer(status: status))
                return nil
            case .ignore: return nil
            case .inject(let lines): context.links.inject(lines, on: id)
            case .loop, .repeatData, .skipData: onStream.append(effect)
            default: context.links.apply(id, effect, at: context.now, &context.timers)
            }
        }
        return context.links[id] == nil ? nil : onStream
    }
}
