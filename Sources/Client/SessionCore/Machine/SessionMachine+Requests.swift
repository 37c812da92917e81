internal import TLCP

/// The requests of the session itself, made from the present options.
extension SessionMachine {
    mutating func creationRequest(_ method: SessionCreation.Method) -> ClientRequest {
        let kind: ConnectionParameters.Kind
        switch method {
        case .webSocket: kind = streamingKind()
        case .http, .unlimited: kind = .polling()
        }
        var request = CreateSessionRequest(connection: ConnectionParameters(kind))
        request.clientID = configuration.clientIdentifier
        request.adapterSet = details.adapterSet
        request.user = details.user
        request.password = details.password
        if case .limited(let limit) = options.values.requestedMaxBandwidth { request.maxBandwidth = limit }
        if method == .unlimited { request.timeToLive = .unlimited }
        request.oldSession = previousSession
        request.cause = takeCause()
        bandwidth.begin(with: options.values.requestedMaxBandwidth)
        return .createSession(request)
    }

    /// `namesSession` is false for a poll on the WebSocket of the previous poll: the server then takes the session that
    /// was last bound to that WebSocket.
    mutating func bindRequest(
        _ transport: SessionTransport,
        session: SessionRecord,
        namesSession: Bool = true
    ) -> ClientRequest {
        let kind = transport.streams ? streamingKind() : options.polling()
        var connection = ConnectionParameters(kind)
        if transport == .httpStreaming { connection.contentLength = Int(clamping: options.values.contentLength) }
        guard namesSession else {
            return .bindSession(BindSessionRequest(sessionID: nil, connection: connection))
        }
        return .bindSession(
            BindSessionRequest(sessionID: session.id, connection: connection, cause: takeCause())
        )
    }

    mutating func recoveryRequest(session: SessionRecord) -> ClientRequest {
        .bindSession(
            BindSessionRequest(
                sessionID: session.id,
                connection: ConnectionParameters(.polling()),
                recoveryFrom: session.cursor.processed,
                cause: takeCause()
            )
        )
    }

    mutating func destroyRequest() -> ClientRequest {
        let operation = ControlOperation.destroy(DestroyRequest(closesSocket: true, cause: "api"))
        return .control(ControlRequest(requestID: requestIDs.next(), operation: operation))
    }

    /// A request that the session makes for itself.
    mutating func request(for purpose: RequestLedger.Purpose, onSocket: Bool) -> (RequestID, ClientRequest) {
        let operation: ControlOperation
        switch purpose {
        case .transportSwitch(let cause):
            operation = .forceRebind(ForceRebindRequest(closesSocket: onSocket, cause: cause))
        case .bandwidth(let limit):
            operation = .constrain(ConstrainRequest(maxBandwidth: limit))
        case .deviceRegistration(let device):
            operation = .mpnRegister(
                MPNRegisterRequest(
                    platform: device.platform,
                    appID: device.applicationID,
                    deviceToken: device.token,
                    newDeviceToken: device.newToken,
                    cause: device.cause
                )
            )
        case .badgeReset(let deviceID):
            operation = .mpnResetBadge(MPNResetBadgeRequest(deviceID: deviceID))
        }
        let id = requestIDs.next()
        return (id, .control(ControlRequest(requestID: id, operation: operation)))
    }

    /// A request in its HTTP form. `create_session` and `bind_session` name their session
    /// in the body.
    func http(_ request: ClientRequest) -> TransportRequest.Request {
        TransportRequest.Request(
            target: request.name.httpTarget(version: version.current),
            body: request.httpBody
        )
    }

    private mutating func streamingKind() -> ConnectionParameters.Kind {
        slowing.requested(options.values.slowingEnabled)
        heartbeat.declare(options.reverseHeartbeat)
        return options.streaming()
    }
}
