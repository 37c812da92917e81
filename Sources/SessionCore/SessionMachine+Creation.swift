internal import TLCP

/// From `connect()` to the first `CONOK`.
extension SessionMachine {
    mutating func connect(at tick: Tick) {
        guard state.isIdle, let address = details.serverAddress else { return }
        fallbackAddress = address
        backoff.reset(to: retryDelay)
        cause = "api"
        beginCreation(at: tick)
    }

    /// Creates a session in the best way there is.
    mutating func beginCreation(at tick: Tick) {
        let onWebSocket = ladder.createsOnWebSocket(
            forced: options.forcedTransport,
            isEarlyOpenEnabled: options.earlyWSOpenEnabled
        )
        create(onWebSocket ? .webSocket : .http, at: tick)
    }

    mutating func create(_ way: Creation.Way, at tick: Tick) {
        guard let address = details.serverAddress ?? fallbackAddress else { return terminate(at: tick) }
        lastEffort = tick.now
        version.creating(at: address)
        startTimer(.transport, after: way == .unlimited ? .seconds(60) : responseTime)
        let connection: ConnectionID
        switch way {
        case .webSocket:
            connection = openSocket(at: address, isCreation: true)
        case .http, .unlimited:
            connection = openRequest(.httpPoll, at: address, http(creationRequest(way)), isCreation: true)
        }
        let step: Creation.Step = way == .webSocket ? .opening : .asked
        state = .creating(
            Creation(
                way: way,
                connection: connection,
                address: address,
                ignoresControlLink: options.serverInstanceAddressIgnored,
                step: step
            )
        )
        setStatus(.connecting)
    }

    /// The `CONOK` of a creation.
    mutating func created(_ creation: Creation, _ accepted: ConnectionAccepted, at tick: Tick) {
        stopTimer(.transport)
        backoff.reset(to: retryDelay)
        previousSession = accepted.sessionID
        session = SessionRecord(
            id: accepted.sessionID,
            creationAddress: creation.address,
            ignoresControlLink: creation.ignoresControlLink,
            address: creation.address,
            requestLimit: accepted.requestLimit
        )
        if version.current != configuration.protocolVersion {
            emit(.rememberVersion(version.current, address: creation.address))
        }
        setProperty(.sessionId(accepted.sessionID.rawValue))
        if creation.way == .webSocket { grantKeepalive(accepted) }
        follow(controlLink: accepted.controlLink)
        tellLegacy(.connectionEstablished)
        if let registration = device.registration { requests.ask(registration) }
        switch creation.way {
        case .webSocket:
            state = .bound(SessionBinding(rung: .webSocketStreaming, connection: creation.connection, step: .streaming))
            setStatus(.connectedWSStreaming)
            beginStreaming(accepted, at: tick)
        case .http, .unlimited:
            state = .bound(
                SessionBinding(rung: .httpPolling, connection: creation.connection, step: .preflight(creation.way))
            )
            startTimer(.transport, after: responseTime)
            setStatus(.connectedStreamSensing)
        }
    }

    /// Moves later connections to the address that the server names.
    mutating func follow(controlLink: String?) {
        guard let controlLink, let session, !session.ignoresControlLink,
            let base = ServerAddress(session.creationAddress),
            let address = ServerAddress.completing(controlLink: controlLink, from: base)
        else { return }
        guard configuration.allowedAddresses?.allows(address) ?? true else {
            if session.refusedLink != address { emit(.note(.controlLinkRefused(address))) }
            self.session?.refusedLink = address
            return
        }
        self.session?.address = address
        setProperty(.serverInstanceAddress(address))
    }

    mutating func grantKeepalive(_ accepted: ConnectionAccepted) {
        let seconds = accepted.keepalive.optionSeconds
        guard options.keepaliveInterval != seconds else { return }
        options.keepaliveInterval = seconds
        emit(.notify(.propertyChanged(.keepaliveInterval(seconds))))
    }

    mutating func grantIdleTimeout(_ accepted: ConnectionAccepted) {
        let seconds = accepted.keepalive.optionSeconds
        guard options.idleTimeout != seconds else { return }
        options.idleTimeout = seconds
        emit(.notify(.propertyChanged(.idleTimeout(seconds))))
    }
}
