internal import TLCP

/// Binding a session to connections: after a preflight, after each `LOOP`, after a recovery.
extension SessionMachine {
    /// The best transport that `forcedTransport` admits and that is not known to fail; nil: there is none.
    var bestTransport: SessionTransport? { ladder.bestTransport(forced: options.values.forcedTransport) }

    /// Binds the session with the best transport.
    mutating func bindInBestWay(cause: String?, at context: EventContext) {
        guard let session else { return }
        opening.cause = cause
        requests.controls.dropSwitch()
        guard let transport = bestTransport else {
            // A new session tries all transports.
            out.notifyLegacy(.connectionFailed(reason: "no transport admitted"))
            return loseSession(cause: cause, wait: .retryDelay, at: context)
        }
        if transport.usesWebSocket { requests.leaveRoute(&out) }
        switch transport {
        case .webSocketStreaming, .webSocketPolling:
            pace.attemptStarted(at: context.now)
            out.startTimer(.transport, after: options.responseTime)
            let socket = open(.webSocket, at: session.address)
            state.transition(to: .bound(SessionBinding(transport: transport, connection: socket, step: .opening)))
        case .httpStreaming:
            pace.attemptStarted(at: context.now)
            let request = opening.http(bindRequest(transport, session: session))
            let connection = open(.httpStream, at: session.address, request)
            out.startTimer(.transport, after: options.responseTime)
            state.transition(to: .bound(SessionBinding(transport: transport, connection: connection, step: .requested)))
        case .httpPolling:
            state.transition(to: .bound(SessionBinding(transport: transport, connection: nil, step: .pausing)))
            poll(at: context)
        }
    }

    /// `namesSession` is false for a poll on the WebSocket of the previous poll.
    private mutating func bindRequest(
        _ transport: SessionTransport,
        session: SessionRecord,
        namesSession: Bool = true
    ) -> ClientRequest {
        var connection = ConnectionParameters(transport.streams ? streamingKind() : options.polling())
        if transport == .httpStreaming { connection.contentLength = Int(clamping: options.values.contentLength) }
        return opening.bind(namesSession ? session.id : nil, connection)
    }

    mutating func streamingKind() -> ConnectionParameters.Kind {
        monitor.requested(slowing: options.values.slowingEnabled)
        requests.heartbeat.declare(options.reverseHeartbeat)
        return options.streaming()
    }

    // MARK: - WebSocket

    mutating func socketOpened(_ socket: ConnectionID) {
        guard state.socketOpened() else { return }
        out.emit(.send(socket, ClientRequest.wsok.webSocketMessage))
        if let creation = state.creation {
            out.emit(.send(socket, creationRequest(creation.method).webSocketMessage))
        } else if let binding = state.binding, binding.transport.streams, let session {
            out.emit(.send(socket, bindRequest(binding.transport, session: session).webSocketMessage))
        }
    }

    mutating func socketGreeted(at context: EventContext) {
        guard state.greeted(), let binding = state.binding, !binding.transport.streams else { return }
        out.stopTimer(.transport)
        poll(isFirst: true, at: context)
    }

    // MARK: - Polls

    /// Sends the next poll of a polling binding. `isFirst`: the first one on its WebSocket, which names the session.
    mutating func poll(isFirst: Bool = false, at context: EventContext) {
        guard let binding = state.binding, let session else { return }
        pace.pollStarted(at: context.now)
        out.startTimer(.idle, after: Duration(optionSeconds: options.values.idleTimeout) + options.responseTime)
        if binding.transport.usesWebSocket {
            guard let socket = binding.connection else { return }
            let request = bindRequest(binding.transport, session: session, namesSession: isFirst)
            out.emit(.send(socket, request.webSocketMessage))
            state.moveBinding(to: .requested, on: socket)
        } else {
            pace.attemptStarted(at: context.now)
            let request = opening.http(bindRequest(binding.transport, session: session))
            let connection = open(.httpPoll, at: session.address, request)
            state.moveBinding(to: .requested, on: connection)
        }
        requests.heartbeat.declare(.zero)
        // Heartbeats are control requests; the polls do not replace them.
        if !requests.heartbeat.isActive { requests.heartbeat.begin(at: context.now, &out) }
    }

    // MARK: - CONOK

    /// The `CONOK` of a bind.
    mutating func rebound(_ binding: SessionBinding, _ accepted: ConnectionAccepted, at context: EventContext) {
        session?.requestLimit = accepted.requestLimit
        switch binding.step {
        case .requested, .greeting, .pollingForced: break
        case .preflight, .opening, .streaming, .polling, .pausing: return
        }
        let granted: OptionsInForce.Granted = binding.transport.streams ? .keepaliveInterval : .idleTimeout
        out.notify(change: options.granted(granted, accepted.keepalive))
        follow(controlLink: accepted.controlLink)
        out.notifyLegacy(.connectionEstablished)
        pace.bound(at: context.now)
        if binding.transport.streams {
            out.stopTimer(.transport)
            state.moveBinding(to: .streaming, on: binding.connection)
            out.setStatus(binding.transport.status)
            beginStreaming(accepted, at: context)
        } else {
            state.moveBinding(to: .polling, on: binding.connection)
            out.setStatus(binding.transport.status)
            connectionEstablished()
        }
    }

    /// Streaming begins, on the WebSocket of a creation or after a bind.
    mutating func beginStreaming(_ accepted: ConnectionAccepted, at context: EventContext) {
        let keepalive = options.limited(.keepaliveInterval, accepted.keepalive)
        if let delay = monitor.begin(keepalive: keepalive, at: context.now) {
            out.startTimer(.liveness, after: delay)
        }
        requests.heartbeat.begin(at: context.now, &out)
        connectionEstablished()
    }

    private mutating func connectionEstablished() {
        out.notify(change: options.resetResponseTime())
        requests.controls.negotiateBandwidth()
        considerSwitch()
    }

    /// Requests a rebind if a better transport than the one in use is available. During a preflight, an opening, a
    /// recovery or a pause between polls nothing is requested: the transport is chosen when it ends.
    mutating func considerSwitch(cause: String? = nil) {
        guard let binding = state.binding, binding.step != .pausing, state.controlRoute != .closed else { return }
        requests.controls.considerSwitch(isWanted: bestTransport != binding.transport, cause: cause)
    }

    /// The stream ends, and its supervision with it.
    mutating func leaveStream() {
        monitor.end()
        out.stopTimer(.liveness)
        requests.heartbeat.end(&out)
        out.stopTimer(.idle)
        out.stopTimer(.polling)
        out.stopTimer(.transport)
    }

    // MARK: - LOOP

    /// `LOOP`: the connection is over, the session waits for a bind.
    mutating func looped(delay: Duration, at context: EventContext) {
        if state.recovery != nil {
            out.release(state.connection)
            out.stopTimer(.transport)
            out.stopTimer(.recoveryDeadline)
            return bindInBestWay(cause: "recovery.loop", at: context)
        }
        guard let binding = state.binding else { return }
        switch binding.step {
        case .preflight(let method):
            out.release(binding.connection)
            out.stopTimer(.transport)
            bindInBestWay(cause: "\(method.causePrefix).loop", at: context)
        case .polling: pollLooped(binding, delay: delay, at: context)
        case .requested where !binding.transport.streams: pollLooped(binding, delay: delay, at: context)
        case .streaming, .pollingForced, .requested, .greeting:
            let pause = loopPause(.zero, at: context)
            rebind(cause: binding.transport.loopCause, after: pause, leaving: binding, at: context)
        case .opening, .pausing: break
        }
    }

    private mutating func pollLooped(_ binding: SessionBinding, delay: Duration, at context: EventContext) {
        out.stopTimer(.idle)
        out.notify(change: options.granted(.pollingInterval, delay))
        // The server closes a WebSocket after the `LOOP` of a rebind, also if the transport was set back meanwhile.
        guard bestTransport == binding.transport, !(binding.transport.usesWebSocket && requests.controls.isSwitching)
        else {
            let cause = requests.controls.switchCause ?? binding.transport.loopCause
            return rebind(cause: cause, after: pace.loopedEvenly(at: context.now), leaving: binding, at: context)
        }
        requests.controls.dropSwitch()
        if binding.transport == .httpPolling { out.release(binding.connection) }
        state.moveBinding(to: .pausing, on: binding.transport.usesWebSocket ? binding.connection : nil)
        let pause = loopPause(options.pollingInterval(granted: delay), at: context)
        if pause > .zero { out.startTimer(.polling, after: pause) } else { poll(at: context) }
    }

    /// The time until the next bind: a server that ends each of them at once does not set the pace, but the user may.
    private mutating func loopPause(_ delay: Duration, at context: EventContext) -> Duration {
        pace.looped(
            processed: session?.cursor.processed ?? 0,
            delay: delay,
            isOwn: options.isOwn(pollingInterval: delay),
            at: context.now
        )
    }

    private mutating func rebind(
        cause: String?,
        after pause: Duration,
        leaving binding: SessionBinding,
        at context: EventContext
    ) {
        leave(binding)
        guard pause > .zero else { return bindInBestWay(cause: cause, at: context) }
        opening.cause = cause
        state.transition(to: .bound(SessionBinding(transport: binding.transport, connection: nil, step: .pausing)))
        out.startTimer(.polling, after: pause)
    }

    /// The pause before the next poll, or before the next bind to another connection, is over.
    mutating func bindPauseEnded(at context: EventContext) {
        guard let binding = state.binding else { return }
        let hasSocket = binding.transport == .webSocketPolling && binding.connection != nil
        if bestTransport == binding.transport, hasSocket || binding.transport == .httpPolling {
            return poll(at: context)
        }
        leave(binding)
        bindInBestWay(cause: opening.cause ?? binding.transport.loopCause, at: context)
    }

    /// Releases the connection of a binding that ended with `LOOP`.
    private mutating func leave(_ binding: SessionBinding) {
        leaveStream()
        if binding.transport.usesWebSocket {
            requests.leaveRoute(&out)
            out.close(binding.connection)
        } else {
            out.release(binding.connection)
        }
    }
}
