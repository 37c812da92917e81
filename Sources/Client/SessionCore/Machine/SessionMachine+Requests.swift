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
        requests.controls.sessionRequested(options.values.requestedMaxBandwidth)
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
