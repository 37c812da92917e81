internal import Primitives
internal import TLCP

extension DemoSession {
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
        let isLate = stream.map { link.openedAt < $0.boundAt } ?? false
        supersede(isRecovery: recoveryFrom != nil, isLate: isLate, &context)
        let binding = terms.granted(on: id, link, by: context.configuration, at: context.now)
        stream = binding
        pollingPause = binding.poll?.pause ?? .zero
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
        writeHead(link, terms, isCreation: isCreation, &context)
        if recoveryFrom != nil {
            log.resend(restart.lines)
            write(.prog(restart.progressive), &context)
        } else if !isLate {
            log.confirm()
        }
        startTimers(&context)
        if let poll = stream?.poll, poll.idle == .zero || hasPending(at: context.now) {
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
        leaveConnection(isEnd: true, &context)
    }

    private mutating func writeHead(
        _ link: Link,
        _ terms: ConnectionParameters,
        isCreation: Bool,
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
        if !hidesBandwidth { write(.cons(bandwidth.granted), &context) }
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

    private mutating func startTimers(_ context: inout ServerContext) {
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

    /// Ends the stream connection with `LOOP` and a delay in milliseconds, nil: the granted pause. The session waits for the
    /// next bind.
    mutating func loop(delay: Int? = nil, _ context: inout ServerContext) {
        guard let stream else { return }
        write(.loop(delayMillis: delay ?? stream.poll?.pause.wholeMilliseconds ?? 0), &context)
        leaveConnection(isEnd: false, &context)
        let pause = stream.poll == nil ? Duration.zero : pollingPause
        keepUnbound(for: pause + context.configuration.timings.sessionTimeout, &context)
    }

    /// Keeps the session without a connection for a time, or for as long as it is kept already.
    mutating func keepUnbound(for time: Duration, _ context: inout ServerContext) {
        expiry = max(expiry, context.now + time)
        context.timers.set(.session(handle, .expiry), at: expiry)
    }

    /// Closes the session, with `END` on its stream connection, if there is one.
    mutating func end(_ end: SessionEnd, isRemembered: Bool = true, _ context: inout ServerContext) {
        write(.end(code: end.code, message: end.message), &context)
        leaveConnection(isEnd: true, &context)
        context.ended.append((handle, isRemembered ? end : nil))
    }

    /// The stream connection broke; the session waits for a recovery.
    mutating func connectionBroke(_ link: LinkID, _ context: inout ServerContext) {
        guard stream?.link == link else { return }
        stopTimers(&context)
        stream = nil
        keepUnbound(for: context.configuration.timings.recoveryTimeout, &context)
    }

    /// Unbinds the session; the connection is closed, or can be used again.
    private mutating func leaveConnection(isEnd: Bool, _ context: inout ServerContext) {
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

    private func stopTimers(_ context: inout ServerContext) {
        for timer in [DemoSessionTimer.keepalive, .sync, .inactivity, .poll, .pump] {
            context.timers.cancel(.session(handle, timer))
        }
    }
}
