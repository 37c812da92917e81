internal import TLCP

/// Control and message requests: on the stream's WebSocket, or one HTTP request at a time beside the stream.
extension SessionMachine {
    private var hasPendingControls: Bool {
        if requests.hasPending { return true }
        return subscriptions.hasPendingRequests
    }

    /// Sends pending requests as far as the route allows.
    mutating func sendPendingRequests(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket): sendOnSocket(socket, at: context)
        case .http: sendOverHTTP(at: context)
        }
    }

    /// Requests that waited for the socket are sent in batches, controls before messages; later ones are sent singly.
    private mutating func sendOnSocket(_ socket: ConnectionID, at context: EventContext) {
        let isAlone = batchedSocket == socket
        batchedSocket = socket
        var hasSent = false
        while hasPendingControls, let batch = takeControls(.webSocket, isAlone: isAlone) {
            emit(.send(socket, batch.bytes))
            hasSent = true
        }
        while messages.hasPendingRequests, let batch = takeMessages(.webSocket, isAlone: isAlone) {
            emit(.send(socket, batch.bytes))
            hasSent = true
        }
        if hasSent { restartHeartbeat(at: context) }
    }

    private mutating func sendOverHTTP(at context: EventContext) {
        guard control.isIdle, let session else { return }
        let first = requestIDs.following
        if hasPendingControls, let batch = takeControls(.http) {
            post(batch.bytes, .control, from: first, session, at: context)
        } else if messages.hasPendingRequests, let batch = takeMessages(.http) {
            post(batch.bytes, .msg, from: first, session, at: context)
        } else if control.isHeartbeatDue {
            post(ClientRequest.heartbeat(HeartbeatRequest()).httpBody, .heartbeat, from: first, session, at: context)
        } else {
            return
        }
        restartHeartbeat(at: context)
    }

    /// Sends requests whose identifiers begin with this number.
    private mutating func post(
        _ body: [UInt8],
        _ name: RequestName,
        from first: Int,
        _ session: SessionRecord,
        at context: EventContext
    ) {
        let target = name.httpTarget(session: session.id, version: version.current)
        let request = TransportRequest.Request(target: target, body: body)
        let connection = openRequest(.httpControl, at: session.address, request)
        let ids = first..<requestIDs.following
        control.sent(on: connection, ids: ids, isHeartbeat: name == .heartbeat, at: context.now)
        startTimer(.control, after: responseTime)
    }

    // MARK: - Heartbeats

    /// Something was sent to the server, or heartbeats begin: the next one is due an interval from now.
    mutating func restartHeartbeat(at context: EventContext) {
        guard let interval = heartbeat.interval else { return }
        heartbeatDue = context.now + interval
        startTimer(.heartbeat, after: interval)
    }

    /// The option changed: a running timer is stopped or shortened, but not extended.
    mutating func heartbeatOptionChanged(at context: EventContext) {
        heartbeat.optionChanged(to: Duration(optionSeconds: options.reverseHeartbeatInterval))
        guard let interval = heartbeat.interval else { return stopTimer(.heartbeat) }
        let isLater = timers.isRunning(.heartbeat) && context.now + interval >= heartbeatDue
        if !isLater { restartHeartbeat(at: context) }
    }

    mutating func heartbeatExpired(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket): emit(.send(socket, ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage))
        case .http: control.heartbeatDue()
        }
        restartHeartbeat(at: context)
    }

    // MARK: - Batches

    /// As many control requests as fit one batch, in their order; `isAlone`: the first of them.
    private mutating func takeControls(_ form: RequestBatch.Form, isAlone: Bool = false) -> RequestBatch? {
        var batch: RequestBatch?
        let limit = session?.requestLimit ?? 0
        if requests.hasPending, !takeOwn(.beforeSubscriptions, form, limit, isAlone, into: &batch) { return batch }
        _ = subscriptions.takePendingRequests(
            atMost: isAlone ? 1 : .max,
            acknowledged: form == .http,
            ids: &requestIDs
        ) { request in Self.add(request, form, limit, to: &batch) }
        if isAlone, batch != nil { return batch }
        if requests.hasPending, !subscriptions.hasPendingRequests {
            _ = takeOwn(.afterSubscriptions, form, limit, isAlone, into: &batch)
        }
        return batch
    }

    private mutating func takeMessages(_ form: RequestBatch.Form, isAlone: Bool = false) -> RequestBatch? {
        var batch: RequestBatch?
        let limit = session?.requestLimit ?? 0
        _ = messages.takePendingRequests(
            atMost: isAlone ? 1 : .max,
            acknowledged: form == .http,
            ids: &requestIDs
        ) { request in Self.add(request, form, limit, to: &batch) }
        return batch
    }

    /// Adds requests of the session itself. Returns false if the batch is complete.
    private mutating func takeOwn(
        _ position: RequestLedger.Position,
        _ form: RequestBatch.Form,
        _ limit: Int,
        _ isAlone: Bool,
        into batch: inout RequestBatch?
    ) -> Bool {
        while let purpose = requests.nextPending(position) {
            let (id, request) = request(for: purpose, onSocket: form == .webSocket)
            guard Self.add(request, form, limit, to: &batch) else { return false }
            requests.sent(purpose, as: id)
            if isAlone { return false }
        }
        return true
    }

    private static func add(
        _ request: ClientRequest,
        _ form: RequestBatch.Form,
        _ limit: Int,
        to batch: inout RequestBatch?
    ) -> Bool {
        if batch == nil {
            batch = RequestBatch(request, form: form, limit: limit)
            return true
        }
        return batch?.append(request) ?? false
    }

    // MARK: - Replies

    /// `REQOK`, `REQERR` or `ERROR`, on the stream or on a control connection.
    mutating func reply(_ notification: ServerNotification, causePrefix: String, at context: EventContext) {
        switch notification {
        case .reqOK(let id):
            if let id { answered(id, .accepted, at: context) }
        case .reqErr(_, 20, let message):
            notifyLegacy(.serverFailed(code: 20, message: message, isRetried: true))
            loseSession(cause: "\(causePrefix).reqerr.20", wait: .firstRetry, at: context)
        case .reqErr(_, let code, let message) where [11, 65, 67].contains(code):
            fail(
                code: code == 11 ? 21 : code,
                message: message,
                legacy: .serverFailed(code: code, message: message, isRetried: false),
                at: context
            )
        case .reqErr(let id, let code, let message):
            answered(id, .refused(code: code, message: message), at: context)
        case .error(let code, let message):
            fail(
                code: code,
                message: message,
                legacy: .serverFailed(code: code, message: message, isRetried: false),
                at: context
            )
        default:
            break
        }
    }

    private mutating func answered(_ id: RequestID, _ answer: RequestAnswer, at context: EventContext) {
        if let purpose = requests.answered(id) {
            answered(purpose, answer)
        } else if let effects = subscriptions.requestAnswered(id, answer) {
            perform(effects, at: context)
        } else if let effects = messages.requestAnswered(id, answer) {
            perform(effects)
        }
    }

    private mutating func answered(_ purpose: RequestLedger.Purpose, _ answer: RequestAnswer) {
        switch (purpose, answer) {
        case (.transportSwitch, _):
            transportSwitch.answered(isAccepted: answer == .accepted)
        case (.bandwidth, _):
            bandwidth.answered(isAccepted: answer == .accepted)
            negotiateBandwidth()
        case (.deviceRegistration, .refused(let code, let message)):
            for event in device.refused(code: code, message: message) { notifyLegacy(event) }
        case (.badgeReset, .refused(let code, let message)):
            notifyLegacy(.badgeReset(deviceId: nil, code: code, message: message))
        case (.deviceRegistration, .accepted), (.badgeReset, .accepted):
            break
        }
    }

    // MARK: - The HTTP channel

    /// The response of the control request is complete or has failed. Requests without a reply are sent again.
    mutating func controlEnded(isComplete: Bool, at context: EventContext) {
        forgetUnanswered()
        if let pause = control.ended(isComplete: isComplete, retryDelay: retryDelay, at: context.now) {
            startTimer(.control, after: pause)
        } else {
            stopTimer(.control)
        }
    }

    mutating func controlExpired(at context: EventContext) {
        guard let connection = control.connection else { return control.pauseEnded() }
        close(connection)
        controlEnded(isComplete: false, at: context)
    }

    /// Leaves the present route for control requests, before another one is used.
    mutating func leaveControlRoute() {
        close(control.left())
        stopTimer(.control)
        forgetUnanswered()
    }

    private mutating func forgetUnanswered() {
        requests.channelLost()
        subscriptions.channelLost()
        messages.channelLost()
    }
}
