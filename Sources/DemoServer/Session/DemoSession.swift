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

    /// The connection; nil while unbound.
    var stream: StreamBinding?
    private var schedule: EventSchedule
    var messages: MessageSequences
    private(set) var bandwidth: BandwidthGate
    /// The identifier of the push notification device that was registered last; nil: none.
    private(set) var device: String?

    var log: NotificationLog
    /// The pause that was granted with the last poll.
    var pollingPause = Duration.zero
    /// Until when the session is kept without a connection; zero while the session is bound.
    var expiry = Duration.zero

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

    /// The client sent a request for this session, or a heartbeat.
    mutating func requestReceived(at now: Duration) { stream?.lastRequest = now }

    // MARK: - Operations of the client

    /// Adds a granted subscription and sends its announcement and snapshots.
    mutating func subscribe(
        _ granted: DemoSubscription,
        snapshots: [FeedSnapshot],
        wrongBy faults: (items: Int, fields: Int) = (0, 0),
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
        if !hidesBandwidth, !writeOrLoop(.cons(bandwidth.granted), &context) { return }
        pump(&context)
    }

    /// `register`: registers a device for push notifications.
    mutating func register(_ request: MPNRegisterRequest, _ context: inout ServerContext) {
        let deviceID = request.assignedDeviceID
        device = deviceID
        report(.mpnReg(deviceID: deviceID, adapter: DeviceFeed.adapter), &context)
    }

    /// `force_rebind`: ends the stream connection with `LOOP`. The session is kept for the requested pause, also if it is not
    /// bound.
    mutating func forceRebind(_ request: ForceRebindRequest, _ context: inout ServerContext) {
        let timings = context.configuration.timings
        let pause = min(.boundedMilliseconds(request.pollingMillis ?? 0), timings.maxPollingInterval)
        stream?.closesSocket = request.closesSocket
        if stream != nil { loop(&context) }
        if pause > .zero { keepUnbound(for: pause + timings.sessionTimeout, &context) }
    }

    /// `destroy`: closes the session.
    mutating func destroy(_ request: DestroyRequest, _ context: inout ServerContext) {
        stream?.closesSocket = request.closesSocket
        guard case .end(let code, var message) = request.end else { return }
        if message.utf8.count > 35, stream?.contentLength != nil { message = "[Custom message skipped]" }
        end(SessionEnd(code: code, message: message), &context)
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
        case .keepalive: keepaliveDue(&context)
        case .sync: syncDue(&context)
        case .inactivity: inactivityDue(&context)
        case .poll: answerPoll(&context)
        case .pump: pump(&context)
        case .expiry: if stream == nil { context.ended.append((handle, nil)) }
        case .skip, .work: break
        }
    }

    /// Sends `PROBE` at 95 % of the interval, because clients count from their last read. The timer is not reset by
    /// every write: when it fires, the time of the last write decides.
    private mutating func keepaliveDue(_ context: inout ServerContext) {
        guard let stream, stream.poll == nil else { return }
        let interval = stream.keepalive * 0.95
        var last = context.links[stream.link]?.lastWrite ?? context.now
        if last + interval <= context.now {
            guard writeOrLoop(.probe, &context) else { return }
            last = context.now
        }
        context.timers.set(.session(handle, .keepalive), at: last + interval)
    }

    private mutating func syncDue(_ context: inout ServerContext) {
        guard let stream, stream.sendsSync else { return }
        let sinceBind = context.now - stream.boundAt
        guard writeOrLoop(.sync(seconds: Int(sinceBind.components.seconds)), &context) else { return }
        context.timers.set(.session(handle, .sync), at: context.now + context.configuration.timings.syncPeriod)
    }

    /// Writes a notification that is not counted, or `LOOP`, with the result false, if the notification does not fit.
    mutating func writeOrLoop(_ notification: ServerNotification, _ context: inout ServerContext) -> Bool {
        let line = notification.encoded
        guard let stream,
            stream.contentLength.map({ stream.written + line.count + StreamBinding.reserve <= $0 }) ?? true
        else {
            loop(&context)
            return false
        }
        write(line, &context)
        return true
    }

    private mutating func inactivityDue(_ context: inout ServerContext) {
        guard let stream, let inactivity = stream.inactivity else { return }
        let end = stream.lastRequest + inactivity + context.configuration.timings.inactivityGrace
        if end <= context.now {
            loop(&context)
        } else {
            context.timers.set(.session(handle, .inactivity), at: end)
        }
    }

    // MARK: - Sending

    /// Writes a notification that is not counted.
    mutating func write(_ notification: ServerNotification, _ context: inout ServerContext) {
        write(notification.encoded, &context)
    }

    /// Writes a line, complete with CR-LF, on the stream connection.
    mutating func write(_ line: [UInt8], _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        stream?.written += line.count
        context.write(line, on: link)
    }

    /// Sends all that may be sent now, and sets the timer for the rest.
    mutating func pump(_ context: inout ServerContext) {
        guard let stream else { return }
        guard stream.takesData else { return gather(&context) }
        while canWrite(&context) {
            if let line = log.unsent.first {
                guard self.stream?.hasRoom(for: line.count) ?? false else { return loop(&context) }
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

    /// Whether the connection accepts data; sets the timer if the present event has filled its buffer.
    private func canWrite(_ context: inout ServerContext) -> Bool {
        guard let link = stream.flatMap({ context.links[$0.link] }), link.isWritable(at: context.now) else {
            return false
        }
        guard link.kind == .exchange || link.pending.count < context.configuration.limits.writeBuffer else {
            context.timers.set(.session(handle, .pump), at: context.now)
            return false
        }
        return true
    }

    private mutating func commit(_ line: [UInt8], _ context: inout ServerContext) {
        log.append(line, at: context.now)
        context.notifications += 1
    }

    private mutating func writeData(_ line: [UInt8], _ context: inout ServerContext) {
        guard let stream else { return }
        self.stream?.dataCount += 1
        if context.links[stream.link]?.faults.skipsNextData == true {
            context.links[stream.link]?.faults.skipsNextData = false
        } else {
            write(line, &context)
        }
        guard !context.faults.isEmpty else { return }
        for effect in context.faults.effects(at: .data(stream.dataCount + 1)) { apply(effect, &context) }
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
        guard stream != nil else { return }
        let free = bandwidth.closedUntil(at: context.now)
        let next = schedule.isReady ? free : schedule.endOfDelay.map { max($0, free ?? $0) }
        if let next, next > context.now { context.timers.set(.session(handle, .pump), at: next) }
    }

    /// Whether an event is pending that may be sent now.
    mutating func hasPending(at now: Duration) -> Bool {
        !log.isWritten || schedule.isReady || (schedule.endOfDelay.map { $0 <= now } ?? false)
    }

    /// Starts the gathering of a poll that has data.
    private mutating func gather(_ context: inout ServerContext) {
        guard stream?.poll?.phase == .waiting else { return }
        guard hasPending(at: context.now) else {
            if let next = schedule.endOfDelay { context.timers.set(.session(handle, .pump), at: next) }
            return
        }
        stream?.poll?.phase = .gathering
        context.timers.set(.session(handle, .poll), at: context.now + context.configuration.timings.pollGathering)
    }

    /// Answers a poll with the pending data and ends it; without data it continues to wait for its idle time.
    mutating func answerPoll(_ context: inout ServerContext) {
        guard let poll = stream?.poll, let since = stream?.boundAt else { return }
        stream?.poll?.phase = .answering
        pump(&context)
        // The content length or a fault may have ended the connection.
        guard let stream else { return }
        if stream.dataCount == 0, since + poll.idle > context.now {
            self.stream?.poll?.phase = .waiting
            context.timers.set(.session(handle, .poll), at: since + poll.idle)
            gatherLater(&context)
        } else {
            loop(&context)
        }
    }

    private mutating func gatherLater(_ context: inout ServerContext) {
        let free = bandwidth.closedUntil(at: context.now)
        guard let next = [schedule.endOfDelay, free].compactMap(\.self).min(), next > context.now else { return }
        context.timers.set(.session(handle, .pump), at: next)
    }

    // MARK: - Faults

    /// Applies an effect to the stream connection; effects on other things are ignored.
    mutating func apply(_ effect: FaultEffect, _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        switch effect {
        case .drop: context.links.cut(link)
        case .skipData: context.links[link]?.faults.skipsNextData = true
        case .loop(let delay): loop(delay: delay, &context)
        case .end(let code, let message): end(SessionEnd(code: code, message: message), &context)
        case .inject(let lines):
            for line in lines { write(Array(line.utf8) + [0x0D, 0x0A], &context) }
        case .repeatData:
            if let line = log.lastLine { write(line, &context) }
        case .clientAddress(let address): write(.clientIP(address), &context)
        case .contentLength(let length): stream?.contentLength = max(0, length)
        default: context.links.apply(link, effect, at: context.now, &context.timers)
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
