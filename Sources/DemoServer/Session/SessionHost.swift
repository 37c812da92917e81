internal import TLCP

/// All sessions, with the adapters of their data and messages: executes the requests of clients.
struct SessionHost: Sendable {
    var sessions: SessionTable
    var metadata: MetadataAdapter
    private var feeds: FeedDirectory
    private var channels = ChannelTable()
    private let configuration: DemoServerConfiguration

    /// No sessions. `clockStart`: milliseconds since 1970 at time zero; `identitySeed`: of the session IDs.
    init(_ configuration: DemoServerConfiguration, clockStart: Int64, identitySeed: UInt64) {
        self.configuration = configuration
        sessions = SessionTable(configuration, seed: identitySeed)
        metadata = MetadataAdapter(configuration)
        feeds = FeedDirectory(configuration, clockStart: clockStart)
    }

    // MARK: - Creations and binds

    mutating func create(_ request: CreateSessionRequest, on id: LinkID, _ context: inout ServerContext) {
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
        for (addition, plan) in additions { subscribe(addition, plan, of: handle, &context) }
        for operation in request.operations { execute(operation, in: handle, &context) }
        _ = sessions[handle]?.bind(to: id, request.connection, isCreation: true, &context)
        for effect in faults { sessions[handle]?.apply(effect, &context) }
    }

    mutating func bind(_ request: BindSessionRequest, on id: LinkID, _ context: inout ServerContext) {
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
        guard sessions.open.count < configuration.limits.sessions else {
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
                    if plans.contains(where: { $0.0.subscriptionID == request.subscriptionID }) {
                        throw ControlRefusal(code: 65, message: "Subscription ID in use")
                    }
                    if plans.count >= configuration.limits.subscriptions { throw .tooManySubscriptions }
                    let items = plans.reduce(channels.count) { $0 + $1.1.items.count }
                    try plans.append((request, metadata.plan(request, in: feeds, beside: items)))
                } catch {
                    throw .creation(error.message, of: "\(request.subscriptionID)")
                }
            case .reconf(let request) where plans.contains { $0.0.subscriptionID == request.subscriptionID }:
                continue
            case .constrain: continue
            case .reconf, .delete, .forceRebind, .destroy, .mpnRegister, .mpnResetBadge:
                throw .creation("operation not possible in a creation")
            }
        }
        return plans
    }

    mutating func heartbeat(_ request: HeartbeatRequest, on id: LinkID, _ context: inout ServerContext) {
        guard let link = context.links[id] else { return }
        let session = request.sessionID.map { sessions.handle(of: $0) } ?? link.defaultSession
        if let session { sessions[session]?.connection.requestReceived(at: context.now) }
        var batch = ResponseBatch(link: id, isWebSocket: link.kind == .webSocket)
        batch.applyFaults(at: .heartbeat, nil, &context)
        if let refusal = batch.faults.refusal {
            batch.answer(refusal, &context)
        } else if !batch.isWebSocket, !batch.faults.isIgnored {
            batch.answer(.reqOK(nil), &context)
        }
        batch.finish(&context)
    }

    // MARK: - Controls

    /// Executes a batch of control requests or messages in order.
    mutating func runBatch(_ outcomes: [RequestParser.Outcome], on id: LinkID, _ context: inout ServerContext) {
        guard let link = context.links[id] else { return }
        var batch = ResponseBatch(link: id, isWebSocket: link.kind == .webSocket)
        context.links[id]?.isInBatch = true
        for outcome in outcomes {
            batch.beginRequest()
            switch outcome {
            case .failure(let rejection): reject(rejection, &batch, &context)
            case .success(.control(let request)):
                batch.applyFaults(at: request.operation.faultRequest, request.requestID, &context)
                if !batch.faults.isIgnored { control(request, &batch, &context) }
            case .success(.message(let request)):
                batch.applyFaults(at: .message, request.requestID, &context)
                if !batch.faults.isIgnored { message(request, &batch, &context) }
            case .success(.createSession), .success(.bindSession), .success(.heartbeat), .success(.wsok):
                batch.answer(.error(code: 67, message: "Malformed request"), &context)
            }
        }
        batch.finish(&context)
        context.links[id]?.isInBatch = false
    }

    /// Refuses a request that could not be read: because of the session, of the module for the operation, or of the parameters.
    private mutating func reject(
        _ rejection: RequestRejection,
        _ batch: inout ResponseBatch,
        _ context: inout ServerContext
    ) {
        var notification = rejection.notification
        if case .operation(let requestID, let id, let isMobilePush) = rejection.carrier {
            guard session(id, requestID, &batch, &context) != nil else { return }
            if isMobilePush, configuration.mobilePush == .disabled {
                notification = MobilePushPolicy.withoutModule.reqErr(requestID)
            }
        }
        batch.answer(notification, &context)
    }

    /// The session of a request; nil if the request was refused, with the response already written.
    private mutating func session(
        _ id: SessionID?,
        _ requestID: RequestID,
        _ batch: inout ResponseBatch,
        _ context: inout ServerContext
    ) -> SessionHandle? {
        if let refusal = batch.faults.refusal {
            batch.answer(refusal, &context)
            return nil
        }
        let handle = id.map { sessions.handle(of: $0) } ?? context.links[batch.link]?.defaultSession
        guard let handle, sessions[handle] != nil, !context.ended.contains(where: { $0.session == handle }) else {
            batch.answer(.reqErr(requestID, code: 20, message: "Session not found"), &context)
            return nil
        }
        sessions[handle]?.connection.requestReceived(at: context.now)
        return handle
    }

    private mutating func control(
        _ request: ControlRequest,
        _ batch: inout ResponseBatch,
        _ context: inout ServerContext
    ) {
        guard let handle = session(request.sessionID, request.requestID, &batch, &context) else { return }
        if let refusal = sessions[handle]?.refusal(of: request.operation, configuration) {
            return batch.answer(refusal.reqErr(request.requestID), &context)
        }
        var additionPlan: SubscriptionPlan?
        // A repetition, sent because the response was lost, has no further effect, and is granted at the limits, too.
        if case .add(let addition) = request.operation,
            sessions[handle]?.subscriptions[addition.subscriptionID] == nil
        {
            do throws(ControlRefusal) {
                additionPlan = try metadata.plan(addition, in: feeds, beside: channels.count)
            } catch {
                return batch.answer(error.reqErr(request.requestID), &context)
            }
        }
        if request.operation.isAcknowledged || !batch.isWebSocket {
            batch.answer(.reqOK(request.requestID), &context)
        }
        execute(request.operation, in: handle, plan: additionPlan, wrongBy: batch.faults.wrongCounts, &context)
        for effect in batch.faults.onStream { sessions[handle]?.apply(effect, &context) }
    }

    /// Performs a granted operation; an `add` without plan is performed already.
    private mutating func execute(
        _ operation: ControlOperation,
        in handle: SessionHandle,
        plan: SubscriptionPlan? = nil,
        wrongBy faults: (items: Int, fields: Int) = (0, 0),
        _ context: inout ServerContext
    ) {
        switch operation {
        case .add(let request):
            if let plan { subscribe(request, plan, of: handle, wrongBy: faults, &context) }
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

    private mutating func subscribe(
        _ request: AddRequest,
        _ plan: SubscriptionPlan,
        of handle: SessionHandle,
        wrongBy faults: (items: Int, fields: Int) = (0, 0),
        _ context: inout ServerContext
    ) {
        let subscription = DemoSubscription(request, plan: plan, limits: configuration.limits)
        let snapshots = plan.items.map { feeds.snapshot(of: $0.name, in: plan.feed) }
        channels.add(subscription, of: handle)
        sessions[handle]?.subscribe(subscription, snapshots: snapshots, wrongBy: faults, &context)
        feeds.subscribed(to: plan.feed, at: context.now)
        scheduleFeeds(&context)
    }

    // MARK: - Messages

    private mutating func message(
        _ request: MessageRequest,
        _ batch: inout ResponseBatch,
        _ context: inout ServerContext
    ) {
        let id = request.requestID
        guard let handle = session(request.sessionID, id, &batch, &context) else { return }
        let longest = configuration.timings.maxMessageWait
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
            batch.answer(.reqErr(id, code: code, message: "Message progressive too low"), &context)
        case .refused, nil:
            batch.answer(.reqErr(id, code: 34, message: "Too many messages are waiting"), &context)
        case .accepted:
            metadata.accepted(request.text)
            if request.isAcknowledged || !batch.isWebSocket { batch.answer(.reqOK(id), &context) }
            work(on: message.sequence, of: handle, &context)
            for effect in batch.faults.onStream { sessions[handle]?.apply(effect, &context) }
        }
    }

    /// Processes the messages that are ready in a sequence.
    private mutating func work(on sequence: String?, of handle: SessionHandle, _ context: inout ServerContext) {
        while let message = sessions[handle]?.nextMessage(of: sequence, &context) {
            process(message, of: handle, &context)
        }
    }

    private mutating func process(_ message: ClientMessage, of handle: SessionHandle, _ context: inout ServerContext) {
        switch metadata.command(of: message.text) {
        case .done(let response): sessions[handle]?.finish(message, .success(response), &context)
        case .chat(let text):
            sessions[handle]?.finish(message, .success(""), &context)
            publish(feeds.received(text, from: message.peer, at: context.now), &context)
        case .failed(let code, let text):
            sessions[handle]?.finish(message, .failure(ControlRefusal(code: code, message: text)), &context)
        case .later(let delay, let rest):
            var later = message
            later.text = rest
            sessions[handle]?.messages.postpone(later, until: context.now + delay)
        case .end(let end):
            sessions[handle]?.finish(message, .success(""), &context)
            sessions[handle]?.end(end, &context)
        case .fault where !configuration.acceptsFaultsFromClients:
            let refusal = ControlRefusal(code: -1, message: "Faults are not accepted from clients")
            sessions[handle]?.finish(message, .failure(refusal), &context)
        case .fault(let script):
            do throws(FaultScriptError) {
                let faults = try FaultScript.parse(script)
                sessions[handle]?.finish(message, .success("\(faults.count)"), &context)
                install(faults, &context)
            } catch {
                let refusal = ControlRefusal(code: -2, message: error.description)
                sessions[handle]?.finish(message, .failure(refusal), &context)
            }
        }
    }

    // MARK: - Data

    /// Publishes the changes of the feeds up to now.
    mutating func feedsDue(_ context: inout ServerContext) {
        publish(feeds.advance(to: context.now), &context)
        scheduleFeeds(&context)
    }

    /// Sets the timer for the next change of a feed.
    mutating func scheduleFeeds(_ context: inout ServerContext) {
        if let next = feeds.nextChange { context.timers.set(.feeds, at: next) }
    }

    mutating func publish(_ request: FeedRequest, to adapter: String, _ context: inout ServerContext) {
        publish(feeds.requested(request, to: adapter), &context)
    }

    /// Publishes an update. Returns the number of channels that receive it.
    @discardableResult
    mutating func publish(_ update: InjectedUpdate, _ context: inout ServerContext) throws(InjectionRefusal) -> Int {
        publish(try feeds.injected(update), &context)
    }

    /// Passes events to every channel of their items. Returns the number of these channels.
    @discardableResult
    private mutating func publish(
        _ events: [(feed: FeedDirectory.Index, event: FeedEvent)],
        _ context: inout ServerContext
    ) -> Int {
        var count = 0
        for (feed, event) in events {
            for entry in channels.entries(for: ChannelTable.Item(feed: feed, name: event.item)) {
                sessions[entry.session]?.offer(event.content, to: entry.channel, &context)
                count += 1
            }
        }
        return count
    }

    // MARK: - Timers

    mutating func timerFired(_ timer: DemoSessionTimer, of handle: SessionHandle, _ context: inout ServerContext) {
        switch timer {
        case .skip(let sequence):
            sessions[handle]?.messages.waited(in: sequence, at: context.now)
            work(on: sequence, of: handle, &context)
        case .work(let sequence): work(on: sequence, of: handle, &context)
        case .keepalive, .sync, .inactivity, .poll, .pump, .expiry: sessions[handle]?.timerFired(timer, &context)
        }
    }

    // MARK: - Faults

    /// Installs faults; those for `FaultMoment.now` take effect at once.
    mutating func install(_ faults: [Fault], _ context: inout ServerContext) {
        for fault in faults {
            guard fault.moment == .now else {
                context.faults.install(fault)
                continue
            }
            for handle in sessions.open.keys.sorted() {
                if case .end(let code, let message) = fault.effect {
                    sessions[handle]?.end(SessionEnd(code: code, message: message), &context)
                } else {
                    sessions[handle]?.apply(fault.effect, &context)
                }
            }
        }
    }

    // MARK: - Ends

    /// Removes the sessions that ended in the present event.
    mutating func removeEnded(_ context: inout ServerContext) {
        let ended = context.ended
        context.ended.removeAll()
        for (handle, end) in ended {
            guard let session = sessions.close(handle, end) else { continue }
            for subscription in session.subscriptions.values { channels.remove(subscription, of: handle) }
            for timer in session.messages.timers + [.keepalive, .sync, .inactivity, .poll, .pump, .expiry] {
                context.timers.cancel(.session(handle, timer))
            }
            guard end != nil else { continue }
            context.timers.set(.tombstone(handle), at: context.now + configuration.timings.tombstoneLife)
        }
    }
}
