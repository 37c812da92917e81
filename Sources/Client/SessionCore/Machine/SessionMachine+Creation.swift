internal import TLCP

/// From a pause or `connect()` to the first `CONOK`.
extension SessionMachine {
    /// The pause before a creation or a recovery is over.
    mutating func pauseEnded(at context: EventContext) {
        pace.pauseEnded()
        attemptAgain(at: context)
    }

    /// `connect()` during the pause before a creation or a recovery.
    mutating func cutPauseShort(at context: EventContext) {
        out.stopTimer(.retry)
        out.stopTimer(.recovery)
        let rest = OptionsInForce.leastRetryDelay.remaining(after: pace.age(at: context.now))
        if rest > .zero { out.startTimer(.retry, after: rest) } else { attemptAgain(at: context) }
    }

    private mutating func attemptAgain(at context: EventContext) {
        switch state {
        case .retrying(isNextUnlimited: true): create(.unlimited, at: context)
        case .retrying(isNextUnlimited: false): beginCreation(at: context)
        case .idle, .creating, .bound, .recovering: recover(at: context)
        }
    }

    /// Creates a session with the best available transport.
    mutating func beginCreation(at context: EventContext) {
        let onWebSocket = ladder.createsOnWebSocket(
            forced: options.values.forcedTransport,
            isEarlyOpenEnabled: options.values.earlyWSOpenEnabled
        )
        create(onWebSocket ? .webSocket : .http, at: context)
    }

    /// The response timeout of a creation that sets the server no time limit.
    private static let unlimitedResponseTime = Duration.seconds(60)

    mutating func create(_ method: SessionCreation.Method, at context: EventContext) {
        guard let address = opening.creationAddress() else { return terminate(at: context) }
        pace.attemptStarted(at: context.now)
        let responseTime = method == .unlimited ? Self.unlimitedResponseTime : options.responseTime
        out.startTimer(.transport, after: responseTime)
        let connection: ConnectionID
        switch method {
        case .webSocket: connection = open(.webSocket, at: address, isCreation: true)
        case .http, .unlimited:
            let request = opening.http(creationRequest(method))
            connection = open(.httpPoll, at: address, request, isCreation: true, responseTime: responseTime)
        }
        let step: SessionCreation.Step = method == .webSocket ? .opening : .requested
        let creation = SessionCreation(
            method: method,
            connection: connection,
            address: address,
            ignoresControlLink: options.values.serverInstanceAddressIgnored,
            step: step
        )
        state.transition(to: .creating(creation))
        out.setStatus(.connecting)
    }

    mutating func creationRequest(_ method: SessionCreation.Method) -> ClientRequest {
        let limit = options.values.requestedMaxBandwidth
        requests.controls.sessionRequested(limit)
        let kind = method == .webSocket ? streamingKind() : .polling()
        return opening.creation(kind, isUnlimited: method == .unlimited, maxBandwidth: limit)
    }

    /// The `CONOK` of a creation.
    mutating func created(_ creation: SessionCreation, _ accepted: ConnectionAccepted, at context: EventContext) {
        out.stopTimer(.transport)
        opening.sessionBegan(accepted.sessionID)
        session = SessionRecord(
            id: accepted.sessionID,
            creationAddress: creation.address,
            ignoresControlLink: creation.ignoresControlLink,
            address: creation.address,
            requestLimit: accepted.requestLimit
        )
        numberEvents()
        if opening.version != configuration.protocolVersion {
            out.emit(.rememberVersion(opening.version, address: creation.address))
        }
        out.setProperty(.sessionId(accepted.sessionID.rawValue))
        let streams = creation.method == .webSocket
        if streams { out.notify(change: options.granted(.keepaliveInterval, accepted.keepalive)) }
        follow(controlLink: accepted.controlLink)
        out.notifyLegacy(.connectionEstablished)
        requests.controls.sessionCreated()
        let binding = SessionBinding(
            transport: streams ? .webSocketStreaming : .httpPolling,
            connection: creation.connection,
            step: streams ? .streaming : .preflight(creation.method)
        )
        state.transition(to: .bound(binding))
        if streams {
            out.setStatus(.connectedWSStreaming)
            pace.bound(at: context.now)
            beginStreaming(accepted, at: context)
        } else {
            out.startTimer(.transport, after: options.responseTime)
            out.setStatus(.connectedStreamSensing)
        }
    }

    mutating func follow(controlLink: String?) {
        guard let controlLink else { return }
        session?.follow(controlLink: controlLink, allowed: configuration.allowedAddresses, &out)
    }

    /// Opens a WebSocket, or with a request an HTTP connection.
    mutating func open(
        _ kind: TransportKind,
        at address: String,
        _ request: TransportRequest.Request? = nil,
        isCreation: Bool = false,
        responseTime: Duration? = nil
    ) -> ConnectionID {
        let headers = session?.heldHeaders ?? options.values.httpExtraHeaders ?? [:]
        let hasHeaders = isCreation || !options.values.httpExtraHeadersOnSessionCreationOnly
        return out.open(
            TransportRequest(
                kind: kind,
                address: address,
                subprotocol: request == nil ? opening.version.webSocketSubprotocol : nil,
                request: request,
                headers: hasHeaders ? headers : [:],
                responseTime: responseTime ?? options.responseTime
            )
        )
    }
}
