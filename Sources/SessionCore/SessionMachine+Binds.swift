internal import TLCP

/// Binding a session to connections: after a preflight, after each `LOOP`, after a recovery.
extension SessionMachine {
    /// Binds the session in the best way there is.
    mutating func bindInBestWay(at tick: Tick) {
        guard let session else { return }
        transportSwitch = .none
        requests.dropTransportSwitch()
        guard let rung = ladder.bestRung(forced: options.forcedTransport) else { return giveUpTransports(at: tick) }
        if rung.usesWebSocket { leaveControlRoute() }
        switch rung {
        case .webSocketStreaming, .webSocketPolling:
            lastEffort = tick.now
            startTimer(.transport, after: responseTime)
            let socket = openSocket(at: session.address, isCreation: false)
            state = .bound(SessionBinding(rung: rung, connection: socket, step: .opening))
        case .httpStreaming:
            lastEffort = tick.now
            let request = http(bindRequest(rung, session: session))
            let connection = openRequest(.httpStream, at: session.address, request)
            startTimer(.transport, after: responseTime)
            state = .bound(SessionBinding(rung: rung, connection: connection, step: .asked))
        case .httpPolling:
            state = .bound(SessionBinding(rung: rung, connection: nil, step: .pausing))
            poll(at: tick)
        }
    }

    /// Nothing that `forcedTransport` admits works: everything is tried again, with a new session.
    private mutating func giveUpTransports(at tick: Tick) {
        emit(.note(.noTransportAdmitted))
        tellLegacy(.connectionFailed(reason: "no transport admitted"))
        ladder.admitAll()
        loseSession(cause: cause ?? "ws.unavailable", wait: .retryDelay, at: tick)
    }

    // MARK: - WebSocket

    mutating func socketOpened(_ socket: ConnectionID, at tick: Tick) {
        guard state.socketOpened() else { return }
        emit(.send(socket, ClientRequest.wsok.webSocketMessage))
        if let creation = state.creation {
            emit(.send(socket, creationRequest(creation.way).webSocketMessage))
        } else if let binding = state.binding, binding.rung.streams, let session {
            emit(.send(socket, bindRequest(binding.rung, session: session).webSocketMessage))
        }
    }

    mutating func socketGreeted(at tick: Tick) {
        guard state.greeted(), let binding = state.binding, !binding.rung.streams else { return }
        stopTimer(.transport)
        poll(isFirst: true, at: tick)
    }

    // MARK: - Polls

    /// Sends the next poll of a polling binding. `isFirst`: the first one on its WebSocket, which names the session.
    mutating func poll(isFirst: Bool = false, at tick: Tick) {
        guard let binding = state.binding, let session else { return }
        startTimer(.idle, after: Duration(optionSeconds: options.idleTimeout) + responseTime)
        if binding.rung.usesWebSocket {
            guard let socket = binding.connection else { return }
            let request = bindRequest(binding.rung, session: session, namesSession: isFirst)
            emit(.send(socket, request.webSocketMessage))
            _ = state.bindingMoved(to: .asked, on: socket)
        } else {
            lastEffort = tick.now
            let request = http(bindRequest(binding.rung, session: session))
            let connection = openRequest(.httpPoll, at: session.address, request)
            _ = state.bindingMoved(to: .asked, on: connection)
            heartbeat.declare(.zero)
            // They keep the connection of control requests in use: polls that follow each other do not put them off.
            if !heartbeat.isActive { beginHeartbeats() }
        }
    }

    // MARK: - CONOK

    /// The `CONOK` of a bind.
    mutating func rebound(_ binding: SessionBinding, _ accepted: ConnectionAccepted, at tick: Tick) {
        session?.requestLimit = accepted.requestLimit
        switch binding.step {
        case .asked, .greeting, .pollingForced: break
        case .preflight, .opening, .streaming, .polling, .pausing: return
        }
        if binding.rung.streams { grantKeepalive(accepted) } else { grantIdleTimeout(accepted) }
        follow(controlLink: accepted.controlLink)
        tellLegacy(.connectionEstablished)
        if binding.rung.streams {
            stopTimer(.transport)
            _ = state.bindingMoved(to: .streaming, on: binding.connection)
            setStatus(binding.rung.status)
            beginStreaming(accepted, at: tick)
        } else {
            _ = state.bindingMoved(to: .polling, on: binding.connection)
            setStatus(binding.rung.status)
            connectionEstablished()
        }
    }

    /// A stream flows, on the socket of a creation or by a bind.
    mutating func beginStreaming(_ accepted: ConnectionAccepted, at tick: Tick) {
        if let delay = liveness.begin(keepalive: accepted.keepalive, at: tick.now) {
            startTimer(.liveness, after: delay)
        }
        slowing.begin()
        beginHeartbeats()
        connectionEstablished()
    }

    private mutating func connectionEstablished() {
        responseTimeout.reset()
        noteResponseTimeout()
        negotiateBandwidth()
        considerSwitch()
    }

    mutating func beginHeartbeats() {
        heartbeat.begin()
        restartHeartbeat()
    }

    /// The stream ends: nothing supervises it any more.
    mutating func leaveStream() {
        liveness.end()
        stopTimer(.liveness)
        heartbeat.end()
        stopTimer(.heartbeat)
        stopTimer(.idle)
        stopTimer(.polling)
        stopTimer(.transport)
    }

    // MARK: - LOOP

    /// `LOOP`: the connection is over, the session waits for a bind.
    mutating func looped(delay: Duration, at tick: Tick) {
        if state.recovery != nil {
            release(state.connection)
            stopTimer(.transport)
            cause = "recovery.loop"
            return bindInBestWay(at: tick)
        }
        guard let binding = state.binding else { return }
        switch binding.step {
        case .preflight(let way):
            release(binding.connection)
            stopTimer(.transport)
            cause = "\(way.causePrefix).loop"
            bindInBestWay(at: tick)
        case .polling:
            pollLooped(binding, delay: delay, at: tick)
        case .asked where !binding.rung.streams:
            pollLooped(binding, delay: delay, at: tick)
        case .streaming, .pollingForced, .asked, .greeting:
            leaveStream()
            leave(binding)
            cause = "\(binding.rung.causePrefix).loop"
            bindInBestWay(at: tick)
        case .opening, .pausing:
            break
        }
    }

    private mutating func pollLooped(_ binding: SessionBinding, delay: Duration, at tick: Tick) {
        stopTimer(.idle)
        if options.pollingInterval != delay.optionSeconds {
            options.pollingInterval = delay.optionSeconds
            emit(.notify(.propertyChanged(.pollingInterval(delay.optionSeconds))))
        }
        guard ladder.bestRung(forced: options.forcedTransport) == binding.rung else {
            cause = transportSwitch.cause ?? "\(binding.rung.causePrefix).loop"
            leaveStream()
            leave(binding)
            return bindInBestWay(at: tick)
        }
        transportSwitch = .none
        requests.dropTransportSwitch()
        if binding.rung == .httpPolling {
            release(binding.connection)
            cause = "http.loop"
        }
        _ = state.bindingMoved(to: .pausing, on: binding.rung.usesWebSocket ? binding.connection : nil)
        if delay > .zero { startTimer(.polling, after: delay) } else { poll(at: tick) }
    }

    /// Lets go of the connection of a binding that ended with `LOOP`.
    private mutating func leave(_ binding: SessionBinding) {
        if binding.rung.usesWebSocket {
            leaveControlRoute()
            close(binding.connection)
        } else {
            release(binding.connection)
        }
    }
}
