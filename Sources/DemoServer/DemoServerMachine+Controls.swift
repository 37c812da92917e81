internal import TLCP

/// Control and message requests.
extension DemoServerMachine {
    /// Executes a batch of control requests or messages in order.
    mutating func runBatch(_ outcomes: [RequestParser.Outcome], on id: LinkID) {
        guard let link = context.links[id] else { return }
        var batch = ResponseBatch(link: id, isWebSocket: link.kind == .webSocket)
        context.links[id]?.isInBatch = true
        for outcome in outcomes {
            switch outcome {
            case .failure(let rejection):
                reject(rejection, &batch)
            case .success(.control(let request)):
                let faults = batch.faults(at: request.operation.faultRequest, request.requestID, &context)
                if !faults.isIgnored { control(request, faults, &batch) }
            case .success(.message(let request)):
                let faults = batch.faults(at: .message, request.requestID, &context)
                if !faults.isIgnored { message(request, faults, &batch) }
            case .success(.createSession), .success(.bindSession), .success(.heartbeat), .success(.wsok):
                batch.answer(.error(code: 67, message: "Malformed request"), ResponseFaults(), &context)
            }
        }
        batch.finish(&context)
        context.links[id]?.isInBatch = false
    }

    /// Refuses a request that could not be read: because of the session, of the module for the operation, or of the parameters.
    private mutating func reject(_ rejection: RequestRejection, _ batch: inout ResponseBatch) {
        var notification = rejection.notification
        if case .operation(let requestID, let id, let isMobilePush) = rejection.carrier {
            guard session(id, requestID, ResponseFaults(), &batch) != nil else { return }
            if isMobilePush, context.configuration.mobilePush == .disabled {
                notification = MobilePushPolicy.withoutModule.reqErr(requestID)
            }
        }
        batch.answer(notification, ResponseFaults(), &context)
    }

    /// The session of a request; nil if the request was refused, with the response already written.
    mutating func session(
        _ id: SessionID?,
        _ requestID: RequestID,
        _ faults: ResponseFaults,
        _ batch: inout ResponseBatch
    ) -> SessionHandle? {
        if let refusal = faults.refusal {
            batch.answer(refusal, faults, &context)
            return nil
        }
        let handle = id.map { sessions.handle(of: $0) } ?? context.links[batch.link]?.defaultSession
        guard let handle, sessions[handle] != nil, !context.ended.contains(where: { $0.session == handle }) else {
            batch.answer(.reqErr(requestID, code: 20, message: "Session not found"), faults, &context)
            return nil
        }
        sessions[handle]?.connection.requestReceived(at: context.now)
        return handle
    }

    private mutating func control(_ request: ControlRequest, _ faults: ResponseFaults, _ batch: inout ResponseBatch) {
        guard let handle = session(request.sessionID, request.requestID, faults, &batch) else { return }
        if let refusal = refusal(of: request.operation, in: handle) {
            return batch.answer(refusal.reqErr(request.requestID), faults, &context)
        }
        var additionPlan: SubscriptionPlan?
        // A repetition, sent because the response was lost, has no further effect, and is granted at the limits, too.
        if case .add(let addition) = request.operation,
            sessions[handle]?.subscriptions[addition.subscriptionID] == nil
        {
            do throws(ControlRefusal) {
                additionPlan = try plan(addition)
            } catch {
                return batch.answer(error.reqErr(request.requestID), faults, &context)
            }
        }
        if request.operation.isAcknowledged || !batch.isWebSocket {
            batch.answer(.reqOK(request.requestID), faults, &context)
        }
        execute(request.operation, in: handle, plan: additionPlan, faults)
        for effect in faults.onStream { sessions[handle]?.apply(effect, &context) }
    }

    /// The refusal of an operation in the present state of its session; nil if it is granted.
    private func refusal(of operation: ControlOperation, in handle: SessionHandle) -> ControlRefusal? {
        let subscriptions = sessions[handle]?.subscriptions ?? [:]
        switch operation {
        case .add(let request):
            if let known = subscriptions[request.subscriptionID] {
                return known.isRepeated(by: request)
                    ? nil : ControlRefusal(code: 65, message: "Subscription ID in use with other parameters")
            }
            return subscriptions.count < context.configuration.limits.subscriptions ? nil : .tooManySubscriptions
        case .delete(let request):
            return subscriptions[request.subscriptionID] == nil ? .unknownSubscription : nil
        case .reconf(let request):
            guard let known = subscriptions[request.subscriptionID] else { return .unknownSubscription }
            return known.request.maxFrequency == .unfiltered
                ? ControlRefusal(code: 13, message: "Reconfiguration not allowed") : nil
        case .constrain, .forceRebind, .destroy:
            return nil
        case .mpnRegister, .mpnResetBadge:
            return context.configuration.mobilePush.refusal(of: operation, device: sessions[handle]?.device)
        }
    }

    /// Performs a granted operation; an `add` without plan is performed already.
    mutating func execute(
        _ operation: ControlOperation,
        in handle: SessionHandle,
        plan: SubscriptionPlan? = nil,
        _ faults: ResponseFaults = ResponseFaults()
    ) {
        switch operation {
        case .add(let request):
            if let plan { subscribe(request, plan, of: handle, wrongBy: faults.wrongCounts) }
        case .delete(let request):
            if let gone = sessions[handle]?.unsubscribe(request.subscriptionID, &context) {
                channels.remove(gone, of: handle)
            }
        case .reconf(let request):
            sessions[handle]?.reconfigure(request.subscriptionID, request.maxFrequency, &context)
        case .constrain(let request): sessions[handle]?.constrain(request.maxBandwidth, &context)
        case .forceRebind(let request): sessions[handle]?.connection.forceRebind(request, &context)
        case .destroy(let request): sessions[handle]?.destroy(request, &context)
        case .mpnRegister(let request): sessions[handle]?.register(request, &context)
        case .mpnResetBadge(let request):
            sessions[handle]?.report(.mpnZero(deviceID: request.deviceID), &context)
        }
    }

    /// Resolves the items and fields of an `add`. The items of `others`, the plans of the same creation, count for the limit.
    func plan(
        _ request: AddRequest,
        beside others: [SubscriptionPlan] = []
    ) throws(ControlRefusal) -> SubscriptionPlan {
        let plan = try metadata.plan(request, in: feeds)
        let items = others.reduce(channels.count + plan.items.count) { $0 + $1.items.count }
        if items > context.configuration.limits.items { throw .tooManySubscriptions }
        if request.maxFrequency == .unfiltered, request.mode != .raw,
            context.configuration.limits.frequency != nil || plan.items.contains(where: { $0.item.maxFrequency != nil })
        {
            throw ControlRefusal(code: 26, message: "Unfiltered dispatching not allowed for these items")
        }
        return plan
    }

    mutating func subscribe(
        _ request: AddRequest,
        _ plan: SubscriptionPlan,
        of handle: SessionHandle,
        wrongBy faults: (items: Int, fields: Int) = (0, 0)
    ) {
        let subscription = DemoSubscription(request, plan: plan, limits: context.configuration.limits)
        let snapshots = plan.items.map { feeds.snapshot(of: $0.name, in: plan.feed) }
        channels.add(subscription, of: handle)
        sessions[handle]?.subscribe(subscription, snapshots: snapshots, wrongBy: faults, &context)
        feeds.subscribed(to: plan.feed, at: context.now)
        scheduleFeeds()
    }

    // MARK: - Messages

    /// `msg`.
    private mutating func message(_ request: MessageRequest, _ faults: ResponseFaults, _ batch: inout ResponseBatch) {
        let id = request.requestID
        guard let handle = session(request.sessionID, id, faults, &batch) else { return }
        let longest = context.configuration.timings.maxMessageWait
        let message = ClientMessage(
            text: request.text,
            sequence: request.sequence,
            progressive: request.progressive,
            maxWait: request.maxWaitMillis.map { min(.boundedMilliseconds($0), longest) } ?? longest,
            wantsOutcome: request.wantsOutcome,
            peer: context.links[batch.link]?.peer ?? ""
        )
        switch sessions[handle]?.messages.received(message, at: context.now) {
        case .duplicate(let code):
            batch.answer(.reqErr(id, code: code, message: "Message progressive too low"), faults, &context)
        case .refused, nil:
            batch.answer(.reqErr(id, code: 34, message: "Too many messages are waiting"), faults, &context)
        case .accepted:
            metadata.accepted(request.text)
            if request.isAcknowledged || !batch.isWebSocket { batch.answer(.reqOK(id), faults, &context) }
            work(on: message.sequence, of: handle)
            for effect in faults.onStream { sessions[handle]?.apply(effect, &context) }
        }
    }

    /// Processes the messages that are ready in a sequence.
    mutating func work(on sequence: String?, of handle: SessionHandle) {
        while let message = sessions[handle]?.nextMessage(of: sequence, &context) { process(message, of: handle) }
    }

    private mutating func process(_ message: ClientMessage, of handle: SessionHandle) {
        switch metadata.command(of: message.text) {
        case .done(let response): sessions[handle]?.finish(message, .success(response), &context)
        case .chat(let text):
            sessions[handle]?.finish(message, .success(""), &context)
            publish(feeds.received(text, from: message.peer, at: context.now))
        case .failed(let code, let text):
            sessions[handle]?.finish(message, .failure(ControlRefusal(code: code, message: text)), &context)
        case .later(let delay, let rest):
            var later = message
            later.text = rest
            sessions[handle]?.messages.postpone(later, until: context.now + delay)
        case .end(let end):
            sessions[handle]?.finish(message, .success(""), &context)
            sessions[handle]?.end(end, &context)
        case .fault where !context.configuration.acceptsFaultsFromClients:
            let refusal = ControlRefusal(code: -1, message: "Faults are not accepted from clients")
            sessions[handle]?.finish(message, .failure(refusal), &context)
        case .fault(let script):
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(script)
                sessions[handle]?.finish(message, .success("\(faults.count)"), &context)
                install(faults)
            } catch {
                let refusal = ControlRefusal(code: -2, message: error.description)
                sessions[handle]?.finish(message, .failure(refusal), &context)
            }
        }
    }
}

/// The refusal of a request: a code of the catalogue of its kind, and a readable text.
struct ControlRefusal: Error, Sendable, Hashable {
    let code: Int
    let message: String

    static let tooManySubscriptions = ControlRefusal(code: 30, message: "Too many subscriptions")
    static let unknownSubscription = ControlRefusal(code: 19, message: "Specified subscription not found")

    var conErr: ServerNotification { .conErr(code: code, message: message) }

    func reqErr(_ requestID: RequestID) -> ServerNotification { .reqErr(requestID, code: code, message: message) }
}
