internal import Primitives
internal import TLCP

/// The connection that a session is bound to, with its timers, and the time for which the session is kept without a connection.
///
/// Lines are written in the order of the calls. Only `writeOrLoop` looks whether a line fits into the content length of the
/// connection; the session does for its data.
struct SessionConnection: Sendable {
    /// The present connection; nil while the session is not bound.
    private(set) var stream: StreamBinding?
    private let handle: SessionHandle
    /// The session ID that clients use.
    private let id: SessionID
    /// Until when the session is kept without a connection; zero while the session is bound.
    private var expiry = Duration.zero

    /// No connection of the session yet.
    init(of handle: SessionHandle, _ id: SessionID) {
        self.handle = handle
        self.id = id
    }

    // MARK: - Beginning

    /// Leaves the present connection, and binds the session to another one. Returns whether the bind may be late: the other
    /// connection was opened before the session was bound to the present one.
    mutating func bind(
        to id: LinkID,
        _ link: Link,
        _ terms: ConnectionParameters,
        isRecovery: Bool,
        _ context: inout ServerContext
    ) -> Bool {
        let isLate = stream.map { link.openedAt < $0.boundAt } ?? false
        supersede(isRecovery: isRecovery, isLate: isLate, &context)
        let binding = terms.granted(on: id, link, by: context.configuration, at: context.now)
        stream = binding
        // A poll that is answered at once is sent as a whole; one that waits first sends `CONOK`.
        let isWhole = binding.poll.map { $0.idle == .zero || context.configuration.holdsPolls } ?? false
        if !isWhole { context.links.openStream(id) }
        context.links[id]?.stream = handle
        context.links[id]?.lastWrite = context.now
        if link.kind == .webSocket {
            context.links[id]?.defaultSession = handle
            context.links[id]?.lastSession = handle
        }
        context.timers.cancel(.session(handle, .expiry))
        expiry = .zero
        return isLate
    }

    /// Leaves the connection that the session is still bound to.
    ///
    /// A bind on a connection opened later is treated as that of another client, and the old connection gets an error.
    /// A bind on a connection opened before the present binding may be a late request of the same client, which must
    /// not get an error: its connection is cut, and the missed notifications can be recovered.
    private mutating func supersede(isRecovery: Bool, isLate: Bool, _ context: inout ServerContext) {
        guard let old = stream else { return }
        if !isRecovery, isLate {
            stopTimers(&context)
            stream = nil
            context.links[old.link]?.stream = nil
            context.links.cut(old.link)
            return
        }
        if !isRecovery {
            context.links.write(.end(code: 40, message: "The session was bound to another connection"), on: old.link)
        }
        stream?.closesSocket = true
        leave(isEnd: true, &context)
    }

    /// Writes the lines that precede the data. `bandwidth`: the argument of `CONS`; nil: `CONS` is suppressed.
    mutating func writeHead(
        _ link: Link,
        _ terms: ConnectionParameters,
        isCreation: Bool,
        bandwidth: RealMaxBandwidth?,
        _ context: inout ServerContext
    ) {
        guard let stream else { return }
        let configuration = context.configuration
        if isCreation || !terms.reducesHead {
            let granted = stream.poll?.idle ?? stream.keepalive
            let greeting = ServerNotification.conOK(
                sessionID: id,
                requestLimit: configuration.limits.request,
                keepaliveMillis: granted.wholeMilliseconds,
                controlLink: link.faults.controlLink ?? configuration.controlLink
            )
            write(greeting, &context)
            if link.faults.repeatsConOK { write(greeting, &context) }
        }
        if !terms.reducesHead {
            write(.servName(configuration.serverName), &context)
            write(.clientIP(link.faults.clientAddress ?? link.peer), &context)
        }
        if !stream.isWebSocket, stream.poll == nil { writePadding(&context) }
        if let bandwidth { write(.cons(bandwidth), &context) }
    }

    /// Writes padding for proxies that buffer the beginning of a response.
    private mutating func writePadding(_ context: inout ServerContext) {
        let padding = context.configuration.limits.padding
        guard let limit = stream?.contentLength, limit > padding * 2 else { return }
        let line = ServerNotification.noop("sending placeholder data").encoded
        var length = 0
        while length < padding {
            write(line, &context)
            length += line.count
        }
    }

    // MARK: - Lines

    /// Writes a notification that is not counted.
    mutating func write(_ notification: ServerNotification, _ context: inout ServerContext) {
        write(notification.encoded, &context)
    }

    /// Writes a line, complete with CR-LF.
    mutating func write(_ line: [UInt8], _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        stream?.written += line.count
        context.write(line, on: link)
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

    /// Writes a data notification. Returns its number on the connection, from 1.
    mutating func writeData(_ line: [UInt8], _ context: inout ServerContext) -> Int? {
        guard let stream else { return nil }
        self.stream?.dataCount += 1
        if context.links[stream.link]?.faults.skipsNextData == true {
            context.links[stream.link]?.faults.skipsNextData = false
        } else {
            write(line, &context)
        }
        return stream.dataCount + 1
    }

    /// Whether the connection accepts data; sets the timer if the present event has filled its buffer.
    func isWritable(_ context: inout ServerContext) -> Bool {
        guard let link = stream.flatMap({ context.links[$0.link] }), link.isWritable(at: context.now) else {
            return false
        }
        guard link.kind == .exchange || link.pending.count < context.configuration.limits.writeBuffer else {
            context.timers.set(.session(handle, .pump), at: context.now)
            return false
        }
        return true
    }

    // MARK: - Polls

    /// A poll that waits has data: more are gathered.
    mutating func gather(_ context: inout ServerContext) {
        stream?.poll?.phase = .gathering
        context.timers.set(.session(handle, .poll), at: context.now + context.configuration.timings.pollGathering)
    }

    /// The answer of a poll begins. Returns false if the session is not bound to a poll.
    mutating func beginAnswer() -> Bool {
        stream?.poll?.phase = .answering
        return stream?.poll != nil
    }

    /// The pending data are written: the poll ends with `LOOP`, or waits on without data for its idle time, with the result true.
    mutating func waitsAfterAnswer(_ context: inout ServerContext) -> Bool {
        // The content length or a fault may have ended the connection.
        guard let stream, let poll = stream.poll else { return false }
        let end = stream.boundAt + poll.idle
        guard stream.dataCount == 0, end > context.now else {
            loop(&context)
            return false
        }
        self.stream?.poll?.phase = .waiting
        context.timers.set(.session(handle, .poll), at: end)
        return true
    }

    // MARK: - Timers

    /// The client sent a request for the session, or a heartbeat.
    mutating func requestReceived(at now: Duration) { stream?.lastRequest = now }

    /// Starts the timers of the connection, after its head.
    mutating func startTimers(_ context: inout ServerContext) {
        guard let stream else { return }
        let now = context.now
        if let poll = stream.poll {
            if poll.idle > .zero { context.timers.set(.session(handle, .poll), at: now + poll.idle) }
            return
        }
        context.timers.set(.session(handle, .keepalive), at: now + stream.keepalive * 0.95)
        if stream.sendsSync {
            context.timers.set(.session(handle, .sync), at: now + context.configuration.timings.firstSync)
        }
        if let inactivity = stream.inactivity {
            context.timers.set(
                .session(handle, .inactivity),
                at: now + inactivity + context.configuration.timings.inactivityGrace
            )
        }
    }

    private func stopTimers(_ context: inout ServerContext) {
        for timer in [DemoSessionTimer.keepalive, .sync, .inactivity, .poll, .pump] {
            context.timers.cancel(.session(handle, timer))
        }
    }

    /// Sends `PROBE` at 95 % of the interval, because clients count from their last read. The timer is not reset by
    /// every write: when it fires, the time of the last write decides.
    mutating func keepaliveDue(_ context: inout ServerContext) {
        guard let stream, stream.poll == nil else { return }
        let interval = stream.keepalive * 0.95
        var last = context.links[stream.link]?.lastWrite ?? context.now
        if last + interval <= context.now {
            guard writeOrLoop(.probe, &context) else { return }
            last = context.now
        }
        context.timers.set(.session(handle, .keepalive), at: last + interval)
    }

    mutating func syncDue(_ context: inout ServerContext) {
        guard let stream, stream.sendsSync else { return }
        let sinceBind = context.now - stream.boundAt
        guard writeOrLoop(.sync(seconds: Int(sinceBind.components.seconds)), &context) else { return }
        context.timers.set(.session(handle, .sync), at: context.now + context.configuration.timings.syncPeriod)
    }

    mutating func inactivityDue(_ context: inout ServerContext) {
        guard let stream, let inactivity = stream.inactivity else { return }
        let end = stream.lastRequest + inactivity + context.configuration.timings.inactivityGrace
        if end <= context.now {
            loop(&context)
        } else {
            context.timers.set(.session(handle, .inactivity), at: end)
        }
    }

    // MARK: - Ends

    /// Ends the connection with `LOOP` and a delay in milliseconds, nil: the granted pause. The session waits for the next bind.
    mutating func loop(delay: Int? = nil, _ context: inout ServerContext) {
        guard let stream else { return }
        let pause = stream.poll?.pause ?? .zero
        write(.loop(delayMillis: delay ?? pause.wholeMilliseconds), &context)
        leave(isEnd: false, &context)
        keepUnbound(for: pause + context.configuration.timings.sessionTimeout, &context)
    }

    /// `force_rebind`: ends the connection with `LOOP`. The session is kept for the requested pause, also if it is not bound.
    mutating func forceRebind(_ request: ForceRebindRequest, _ context: inout ServerContext) {
        let timings = context.configuration.timings
        let pause = min(.boundedMilliseconds(request.pollingMillis ?? 0), timings.maxPollingInterval)
        stream?.closesSocket = request.closesSocket
        loop(&context)
        if pause > .zero { keepUnbound(for: pause + timings.sessionTimeout, &context) }
    }

    /// Ends the connection with `END`. `closesSocket`: a connection that could be used again is closed as well; nil: as before.
    mutating func end(_ end: SessionEnd, closesSocket: Bool? = nil, _ context: inout ServerContext) {
        if let closesSocket { stream?.closesSocket = closesSocket }
        write(.end(code: end.code, message: end.message), &context)
        leave(isEnd: true, &context)
    }

    /// A connection broke. If the session was bound to it, the session waits for a recovery.
    mutating func broke(_ link: LinkID, _ context: inout ServerContext) {
        guard stream?.link == link else { return }
        stopTimers(&context)
        stream = nil
        keepUnbound(for: context.configuration.timings.recoveryTimeout, &context)
    }

    /// Unbinds the session; the connection is closed, or can be used again.
    private mutating func leave(isEnd: Bool, _ context: inout ServerContext) {
        guard let stream else { return }
        stopTimers(&context)
        self.stream = nil
        context.links[stream.link]?.stream = nil
        if !stream.isWebSocket {
            context.links.end(stream.link, .complete(closesSocket: stream.closesSocket))
        } else if isEnd || stream.closesSocket {
            context.links.end(stream.link, .close(code: 1_000))
        }
    }

    /// Keeps the session without a connection for a time, or for as long as it is kept already.
    private mutating func keepUnbound(for time: Duration, _ context: inout ServerContext) {
        expiry = max(expiry, context.now + time)
        context.timers.set(.session(handle, .expiry), at: expiry)
    }

    // MARK: - Faults

    /// Applies an effect to the connection; effects on other things are ignored.
    mutating func apply(_ effect: FaultEffect, _ context: inout ServerContext) {
        guard let link = stream?.link else { return }
        switch effect {
        case .skipData: context.links[link]?.faults.skipsNextData = true
        case .loop(let delay): loop(delay: delay, &context)
        case .inject(let lines):
            for line in lines { write(Array(line.utf8) + [0x0D, 0x0A], &context) }
        case .clientAddress(let address): write(.clientIP(address), &context)
        case .contentLength(let length): stream?.contentLength = max(0, length)
        default: context.links.apply(link, effect, at: context.now, &context.timers)
        }
    }
}
