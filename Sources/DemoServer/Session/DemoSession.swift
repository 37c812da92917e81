internal import TLCP

/// One session: its subscriptions, its sent and pending notifications, and the connection that it is bound to.
///
/// An event moves from the queue of a channel to the log of sent notifications, where it gets its number and its final
/// text, and from there to the connection. A numbered notification is never changed.
struct DemoSession: Sendable {
    /// The server's number for the session.
    let handle: SessionHandle
    /// The session ID that clients use.
    let id: SessionID
    /// The TLCP version of the client.
    let version: ProtocolVersion
    /// Whether `CONS` is suppressed.
    let hidesBandwidth: Bool

    /// The connection that the session is bound to, if there is one.
    var connection: SessionConnection
    private var schedule: EventSchedule
    var messages: MessageSequences
    private(set) var bandwidth: BandwidthGate
    /// The identifier of the push notification device that was registered last; nil: none.
    private var device: String?

    private var log: NotificationLog

    init(
        _ handle: SessionHandle,
        _ id: SessionID,
        _ request: CreateSessionRequest,
        version: ProtocolVersion,
        _ configuration: DemoServerConfiguration
    ) {
        let limits = configuration.limits
        self.handle = handle
        self.id = id
        self.version = version
        connection = SessionConnection(of: handle, id)
        schedule = EventSchedule(diffs: version.hasDiffs ? request.supportedDiffs ?? .all : [])
        hidesBandwidth = request.connection.reducesHead
        bandwidth = BandwidthGate(requested: request.maxBandwidth, limits: limits)
        messages = MessageSequences(
            capacity: limits.waitingMessages,
            maxBytes: max(limits.pendingControl, limits.request * 2)
        )
        log = NotificationLog(maxBytes: limits.replay, maxAge: configuration.timings.recoveryTimeout)
    }

    /// Subscriptions by the client's number.
    var subscriptions: [SubscriptionID: DemoSubscription] { schedule.subscriptions }

    /// Queues a notification that is not one of an item.
    mutating func notify(_ notification: ServerNotification, _ context: inout ServerContext) {
        var line = notification.encoded
        if case .msgDone(let sequence, let progressive, _) = notification, !version.hasResponses {
            line = Array("MSGDONE,\(sequence ?? "*"),\(progressive)\r\n".utf8)
        }
        log.queue(line)
        // The client has not read for too long.
        if log.queuedBytes > context.configuration.limits.pendingControl {
            end(SessionEnd(code: 33, message: "Too much is waiting for this session"), &context)
        }
    }

    /// Queues a notification that is not one of an item, and sends what may be sent now.
    mutating func report(_ notification: ServerNotification, _ context: inout ServerContext) {
        notify(notification, &context)
        pump(&context)
    }

    // MARK: - Connection

    var isBound: Bool { connection.stream != nil }

    /// Binds the session to a connection and writes the head, followed by the pending notifications. `recoveryFrom`: the
    /// number of data notifications that the client has received; nil: all. Returns false, with nothing changed, if the
    /// notifications to recover are not kept.
    mutating func bind(
        to id: LinkID,
        _ terms: ConnectionParameters,
        recoveryFrom: Int? = nil,
        isCreation: Bool = false,
        _ context: inout ServerContext
    ) -> Bool {
        guard let link = context.links[id] else { return true }
        guard let restart = restart(recoveryFrom, link) else { return false }
        let isLate = connection.bind(to: id, link, terms, isRecovery: recoveryFrom != nil, &context)
        let limit = hidesBandwidth ? nil : bandwidth.granted
        connection.writeHead(link, terms, isCreation: isCreation, bandwidth: limit, &context)
        if recoveryFrom != nil {
            log.resend(restart.lines)
            connection.write(.prog(restart.progressive), &context)
        } else if !isLate {
            log.confirm()
        }
        connection.startTimers(&context)
        if let poll = connection.stream?.poll, poll.idle == .zero || hasPending(at: context.now) {
            answerPoll(&context)
        } else {
            pump(&context)
        }
        return true
    }

    /// The number of the first notification to send, and the lines to repeat; nil if they are not kept.
    private func restart(_ recoveryFrom: Int?, _ link: Link) -> (progressive: Int, lines: [[UInt8]])? {
        guard let recoveryFrom else { return (log.progressive, []) }
        guard recoveryFrom >= log.earliestRestart, recoveryFrom <= log.progressive else { return nil }
        // With a negative offset the stream restarts earlier; with a positive one the stream is unchanged and only PROG
        // is higher.
        let offset = link.faults.progressOffset
        let first = max(log.earliestRestart, recoveryFrom + min(0, offset))
        return log.lines(after: first).map { (first + max(0, offset), $0) }
    }

    /// Closes the session, with `END` on its connection, if there is one.
    mutating func end(
        _ end: SessionEnd,
        isRemembered: Bool = true,
        closesSocket: Bool? = nil,
        _ context: inout ServerContext
    ) {
        connection.end(end, closesSocket: closesSocket, &context)
        context.ended.append((handle, isRemembered ? end : nil))
    }

    // MARK: - Operations of the client

    /// The refusal of an operation; nil if it is granted.
    func refusal(of operation: ControlOperation, _ configuration: DemoServerConfiguration) -> ControlRefusal? {
        switch operation {
        case .add(let request):
            if let known = subscriptions[request.subscriptionID] {
                return known.isRepeated(by: request)
                    ? nil : ControlRefusal(code: 65, message: "Subscription ID in use with other parameters")
            }
            return subscriptions.count < configuration.limits.subscriptions ? nil : .tooManySubscriptions
        case .delete(let request):
            return subscriptions[request.subscriptionID] == nil ? .unknownSubscription : nil
        case .reconf(let request):
            guard let known = subscriptions[request.subscriptionID] else { return .unknownSubscription }
            return known.request.maxFrequency == .unfiltered
                ? ControlRefusal(code: 13, message: "Reconfiguration not allowed") : nil
        case .constrain, .forceRebind, .destroy:
            return nil
        case .mpnRegister, .mpnResetBadge:
            return configuration.mobilePush.refusal(of: operation, device: device)
        }
    }

    /// Adds a granted subscription and sends its announcement and snapshots.
    mutating func subscribe(
        _ granted: DemoSubscription,
        snapshots: [FeedSnapshot],
        wrongBy faults: (items: Int, fields: Int),
        _ context: inout ServerContext
    ) {
        var subscription = granted
        for (index, snapshot) in snapshots.enumerated() where subscription.channels.indices.contains(index) {
            subscription.offerSnapshot(snapshot, to: index)
        }
        schedule.add(subscription)
        for notification in subscription.announcement(wrongBy: faults) { notify(notification, &context) }
        pump(&context)
    }

    /// Removes a subscription with its pending events and returns it; nil if there is none with this ID.
    mutating func unsubscribe(_ id: SubscriptionID, _ context: inout ServerContext) -> DemoSubscription? {
        guard let subscription = schedule.remove(id) else { return nil }
        report(.unsub(id), &context)
        return subscription
    }

    /// Changes the frequency of a subscription; `CONF` precedes the first update at the new rate.
    mutating func reconfigure(_ id: SubscriptionID, _ frequency: RequestedMaxFrequency?, _ context: inout ServerContext)
    {
        let limits = context.configuration.limits
        if let change = schedule.reconfigure(id, frequency, limits: limits) { report(change, &context) }
    }

    /// Changes the bandwidth; `CONS` precedes the first notification at the new rate.
    mutating func constrain(_ requested: RequestedMaxBandwidth?, _ context: inout ServerContext) {
        switch requested {
        case .limited(let value): bandwidth.request(value)
        case .unlimited: bandwidth.request(nil)
        case nil: break
        }
        // Where `CONS` does not fit, the head of the next connection has it.
        if !hidesBandwidth, !connection.writeOrLoop(.cons(bandwidth.granted), &context) { return }
        pump(&context)
    }

    /// `register`: registers a device for push notifications.
    mutating func register(_ request: MPNRegisterRequest, _ context: inout ServerContext) {
        let deviceID = request.assignedDeviceID
        device = deviceID
        report(.mpnReg(deviceID: deviceID, adapter: DeviceFeed.adapter), &context)
    }

    /// `destroy`: closes the session.
    mutating func destroy(_ request: DestroyRequest, _ context: inout ServerContext) {
        guard case .end(let code, var message) = request.end else { return }
        if message.utf8.count > 35, connection.stream?.contentLength != nil { message = "[Custom message skipped]" }
        end(SessionEnd(code: code, message: message), closesSocket: request.closesSocket, &context)
    }

    mutating func offer(_ event: ItemEvent, to reference: ChannelReference, _ context: inout ServerContext) {
        if schedule.offer(event, to: reference) { pump(&context) }
    }

    // MARK: - Messages

    /// The next message of a sequence to process; nil: there is none, and the timers for those that wait are set. Messages that
    /// are skipped are reported.
    mutating func nextMessage(of sequence: String?, _ context: inout ServerContext) -> ClientMessage? {
        while let event = messages.nextWork(of: sequence, at: context.now) {
            switch event {
            case .process(let message): return message
            case .skipped(let last, let count):
                let text = count == 1 ? "The specified progressive number has been skipped by timeout" : String(count)
                let code = count == 1 ? 38 : 39
                report(.msgFail(sequence: sequence, progressive: last, code: code, message: text), &context)
            }
        }
        if let end = messages.endOfDelay(of: sequence) {
            context.timers.set(.session(handle, .work(sequence: sequence)), at: end)
        }
        if let sequence, let end = messages.earliestEnd(of: sequence) {
            context.timers.set(.session(handle, .skip(sequence: sequence)), at: end)
        }
        return nil
    }

    /// Reports the response to a message, or its failure, if the client requests the outcome.
    mutating func finish(
        _ message: ClientMessage,
        _ outcome: Result<String, ControlRefusal>,
        _ context: inout ServerContext
    ) {
        guard message.wantsOutcome, let progressive = message.progressive else { return }
        let sequence = message.sequence
        let notification: ServerNotification =
            switch outcome {
            case .success(let response): .msgDone(sequence: sequence, progressive: progressive, response: response)
            case .failure(let refusal):
                .msgFail(sequence: sequence, progressive: progressive, code: refusal.code, message: refusal.message)
            }
        report(notification, &context)
    }

    // MARK: - Timers

    /// A timer of this session fired; the machine handles the timers of messages.
    mutating func timerFired(_ timer: DemoSessionTimer, _ context: inout ServerContext) {
        switch timer {
        case .keepalive: connection.keepaliveDue(&context)
        case .sync: connection.syncDue(&context)
        case .inactivity: connection.inactivityDue(&context)
        case .poll: answerPoll(&context)
        case .pump: pump(&context)
        case .expiry: if !isBound { context.ended.append((handle, nil)) }
        case .skip, .work: break
        }
    }

    // MARK: - Sending

    /// Sends all that may be sent now, and sets the timer for the rest.
    mutating func pump(_ context: inout ServerContext) {
        guard let stream = connection.stream else { return }
        guard stream.takesData else { return gather(&context) }
        while connection.isWritable(&context) {
            if let line = log.unsent.first {
                guard connection.stream?.hasRoom(for: line.count) ?? false else { return connection.loop(&context) }
                log.written()
                writeData(line, &context)
            } else if let line = log.takeQueued() {
                commit(line, &context)
            } else if !commitNextEvent(&context) {
                break
            }
        }
        scheduleNext(&context)
    }

    private mutating func commit(_ line: [UInt8], _ context: inout ServerContext) {
        log.append(line, at: context.now)
        context.notifications += 1
    }

    private mutating func writeData(_ line: [UInt8], _ context: inout ServerContext) {
        guard let number = connection.writeData(line, &context) else { return }
        for effect in context.faults.effects(at: .data(number)) { apply(effect, &context) }
    }

    /// Commits one event of one channel; false if none may be sent now.
    private mutating func commitNextEvent(_ context: inout ServerContext) -> Bool {
        let now = context.now
        schedule.delaysEnded(by: now)
        guard bandwidth.closedUntil(at: now) == nil, let line = schedule.nextLine(at: now) else { return false }
        bandwidth.spent(line.count, at: now)
        commit(line, &context)
        return true
    }

    /// Sets the timer for the instant at which frequency and bandwidth allow the next event.
    private mutating func scheduleNext(_ context: inout ServerContext) {
        guard isBound else { return }
        let free = bandwidth.closedUntil(at: context.now)
        let next = schedule.isReady ? free : schedule.endOfDelay.map { max($0, free ?? $0) }
        if let next, next > context.now { context.timers.set(.session(handle, .pump), at: next) }
    }

    /// Whether an event is pending that may be sent now.
    private mutating func hasPending(at now: Duration) -> Bool {
        !log.isWritten || schedule.isReady || (schedule.endOfDelay.map { $0 <= now } ?? false)
    }

    /// Starts the gathering of a poll that has data.
    private mutating func gather(_ context: inout ServerContext) {
        guard connection.stream?.poll?.phase == .waiting else { return }
        guard hasPending(at: context.now) else {
            if let next = schedule.endOfDelay { context.timers.set(.session(handle, .pump), at: next) }
            return
        }
        connection.gather(&context)
    }

    /// Answers a poll with the pending data and ends it; without data it continues to wait for its idle time.
    private mutating func answerPoll(_ context: inout ServerContext) {
        guard connection.beginAnswer() else { return }
        pump(&context)
        if connection.waitsAfterAnswer(&context) { gatherLater(&context) }
    }

    private mutating func gatherLater(_ context: inout ServerContext) {
        let free = bandwidth.closedUntil(at: context.now)
        guard let next = [schedule.endOfDelay, free].compactMap(\.self).min(), next > context.now else { return }
        context.timers.set(.session(handle, .pump), at: next)
    }

    // MARK: - Faults

    /// Applies an effect to the session on its connection; effects on other things are ignored.
    mutating func apply(_ effect: FaultEffect, _ context: inout ServerContext) {
        switch effect {
        case .end(let code, let message):
            if isBound { end(SessionEnd(code: code, message: message), &context) }
        case .repeatData:
            if let line = log.lastLine { connection.write(line, &context) }
        default: connection.apply(effect, &context)
        }
    }
}

/// Why a session was closed: the arguments of `END`.
package struct SessionEnd: Sendable, Hashable {
    /// A code of the session catalogue.
    package var code: Int
    package var message: String
}

/// The server's number for a session.
typealias SessionHandle = Int
