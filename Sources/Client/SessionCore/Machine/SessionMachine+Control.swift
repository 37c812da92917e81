internal import TLCP

/// Control and message requests: on the stream's WebSocket, or one HTTP request at a time beside the stream.
extension SessionMachine {
    /// Sends pending requests as far as the route allows.
    mutating func sendPendingRequests(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket):
            let hasSent = requests.sendAll(on: socket, limit: session?.requestLimit ?? 0, &out)
            if hasSent, heartbeat.interval != nil { heartbeat.requestSent(at: context.now, &out) }
        case .http: sendOverHTTP(at: context)
        }
    }

    /// A WebSocket takes no more requests because the server does not read the former requests, or takes requests again.
    /// Meanwhile requests wait in the queue, whose size has a limit, however many requests the server causes.
    package mutating func socketFilled(
        _ connection: ConnectionID,
        isFull: Bool,
        at context: EventContext
    ) -> [SessionAction] {
        requests.socketFilled(connection, isFull: isFull)
        sendPendingRequests(at: context)
        return takeActions()
    }

    private mutating func sendOverHTTP(at context: EventContext) {
        guard control.isIdle, let session else { return }
        if let (batch, ids) = requests.nextBatch(limit: session.requestLimit, &out) {
            post(batch.bytes, batch.name, ids, session, at: context)
        } else if control.isHeartbeatDue {
            post(ClientRequest.heartbeat(HeartbeatRequest()).httpBody, .heartbeat, 0..<0, session, at: context)
        } else {
            return
        }
        heartbeat.requestSent(at: context.now, &out)
    }

    /// Sends requests with these numbers.
    private mutating func post(
        _ body: [UInt8],
        _ name: RequestName,
        _ ids: Range<Int>,
        _ session: SessionRecord,
        at context: EventContext
    ) {
        let target = name.httpTarget(session: session.id, version: opening.version)
        let request = TransportRequest.Request(target: target, body: body)
        let connection = open(.httpControl, at: session.address, request)
        control.sent(on: connection, ids: ids, isHeartbeat: name == .heartbeat, at: context.now)
        out.startTimer(.control, after: options.responseTime)
    }

    mutating func heartbeatExpired(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket) where socket == requests.fullSocket: break
        case .socket(let socket): out.emit(.send(socket, ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage))
        case .http: control.heartbeatDue()
        }
        heartbeat.requestSent(at: context.now, &out)
    }

    // MARK: - Replies

    /// `REQOK`, `REQERR` or `ERROR`, on the stream or on a control connection.
    mutating func reply(_ notification: ServerNotification, causePrefix: String, at context: EventContext) {
        switch notification {
        case .reqOK(let id):
            if let id { answered(id, .accepted, at: context) }
        case .reqErr(_, 20, let message):
            out.notifyLegacy(.serverFailed(code: 20, message: message, isRetried: true))
            loseSession(cause: "\(causePrefix).reqerr.20", wait: .firstRetry, at: context)
        case .reqErr(_, let code, let message)
        where code == 11 || [65, 67].contains(code) && !configuration.outlivesMalformedRequests:
            fail(
                code: code == 11 ? 21 : code,
                message: message,
                legacy: .serverFailed(code: code, message: message, isRetried: false),
                at: context
            )
        case .reqErr(let id, let code, let message):
            answered(id, .refused(code: code, message: message), at: context)
        case .error(let code, let message):
            fail(code: code, message: message, at: context)
        default:
            break
        }
    }

    private mutating func answered(_ id: RequestID, _ answer: RequestAnswer, at context: EventContext) {
        if let events = requests.controls.requestAnswered(id, answer) {
            out.notify(events)
        } else if let effects = requests.subscriptions.requestAnswered(id, answer) {
            perform(effects, at: context)
        } else if let events = requests.messages.requestAnswered(id, answer) {
            out.notify(events)
        }
    }

    // MARK: - The HTTP channel

    /// The response of the control request is complete or has failed. Requests without a reply are sent again.
    mutating func controlEnded(isComplete: Bool, reason: String, at context: EventContext) {
        requests.responseEnded()
        if let pause = control.ended(isComplete: isComplete, retryDelay: options.retryDelay, at: context.now) {
            out.startTimer(.control, after: pause)
            // The first failure may be that of the whole connection, which the stream reports.
            if control.failures == 2 { out.emit(.log(.controlRequestsFail(reason: reason))) }
        } else {
            out.stopTimer(.control)
        }
    }

    mutating func controlExpired(at context: EventContext) {
        guard let connection = control.connection else { return control.pauseEnded() }
        out.close(connection)
        controlEnded(isComplete: false, reason: "no answer in time", at: context)
    }

    /// Leaves the present route for control requests, before another one is used.
    mutating func leaveControlRoute() {
        out.close(control.left())
        out.stopTimer(.control)
        requests.channelLost()
    }
}
