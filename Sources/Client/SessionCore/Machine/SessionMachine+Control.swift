internal import TLCP

/// Control and message requests: on the stream's WebSocket, or one HTTP request at a time beside the stream.
extension SessionMachine {
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
        while let batch = takeBatch(.webSocket, isAlone: isAlone) {
            out.emit(.send(socket, batch.bytes))
            hasSent = true
        }
        if hasSent { restartHeartbeat(at: context) }
    }

    private mutating func sendOverHTTP(at context: EventContext) {
        guard control.isIdle, let session else { return }
        let first = requestIDs.following
        if let batch = takeBatch(.http) {
            post(batch.bytes, batch.name, from: first, session, at: context)
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
        out.startTimer(.control, after: options.responseTime)
    }

    // MARK: - Heartbeats

    /// Something was sent to the server, or heartbeats begin: the next one is due an interval from now.
    mutating func restartHeartbeat(at context: EventContext) {
        if let delay = heartbeat.restart(at: context.now) { out.startTimer(.heartbeat, after: delay) }
    }

    /// The option changed: a running timer is stopped or shortened, but not extended.
    mutating func heartbeatOptionChanged(at context: EventContext) {
        heartbeat.optionChanged(to: options.reverseHeartbeat)
        guard heartbeat.interval != nil else { return out.stopTimer(.heartbeat) }
        if !out.isRunning(.heartbeat) || heartbeat.isDueSooner(at: context.now) { restartHeartbeat(at: context) }
    }

    mutating func heartbeatExpired(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket): out.emit(.send(socket, ClientRequest.heartbeat(HeartbeatRequest()).webSocketMessage))
        case .http: control.heartbeatDue()
        }
        restartHeartbeat(at: context)
    }

    // MARK: - Batches

    /// The next batch, control requests before messages; `isAlone`: one request. A request that exceeds the limit by itself
    /// is refused if the configuration says so.
    private mutating func takeBatch(_ form: RequestBatch.Form, isAlone: Bool = false) -> RequestBatch? {
        let limit = session?.requestLimit ?? 0
        while true {
            var builder = BatchBuilder(form, limit: limit, refusesOversized: configuration.refusesOversizedRequests)
            takeControls(into: &builder, isAlone: isAlone)
            if builder.batch == nil, builder.oversize == nil, messages.hasPendingRequests {
                takeMessages(into: &builder, isAlone: isAlone)
            }
            guard let size = builder.oversize else { return builder.batch }
            refuseNext(.oversized(size, limit: limit))
        }
    }

    /// As many control requests as fit the batch, in their order; `isAlone`: the first of them.
    private mutating func takeControls(into builder: inout BatchBuilder, isAlone: Bool) {
        if requests.hasPending, !takeOwn(.beforeSubscriptions, isAlone: isAlone, into: &builder) { return }
        if subscriptions.hasPendingRequests {
            _ = subscriptions.takePendingRequests(
                atMost: isAlone ? 1 : .max,
                acknowledged: builder.form == .http,
                ids: &requestIDs
            ) { builder.add($0) }
            if isAlone, builder.batch != nil { return }
        }
        if requests.hasPending, !subscriptions.hasPendingRequests {
            _ = takeOwn(.afterSubscriptions, isAlone: isAlone, into: &builder)
        }
    }

    private mutating func takeMessages(into builder: inout BatchBuilder, isAlone: Bool) {
        _ = messages.takePendingRequests(
            atMost: isAlone ? 1 : .max,
            acknowledged: builder.form == .http,
            ids: &requestIDs
        ) { builder.add($0) }
    }

    /// Adds requests of the session itself. Returns false if the batch is complete.
    private mutating func takeOwn(
        _ position: RequestLedger.Position,
        isAlone: Bool,
        into builder: inout BatchBuilder
    ) -> Bool {
        while let purpose = requests.nextPending(position) {
            let (id, request) = request(for: purpose, onSocket: builder.form == .webSocket)
            guard builder.add(request) else { return false }
            requests.sent(purpose, as: id)
            if isAlone { return false }
        }
        return true
    }

    /// Refuses the request that would be sent next. A server may close the connection instead of replying, and gets the
    /// request again with each further connection.
    private mutating func refuseNext(_ refusal: UpstreamRefusal) {
        let (code, message) = (refusal.code, refusal.message)
        if let purpose = requests.nextPending(.beforeSubscriptions) {
            refuse(purpose, refusal)
        } else if subscriptions.hasPendingRequests {
            for case .notify(let token, let event) in subscriptions.refuseNext(code: code, message: message) {
                out.notify(.subscription(token, event))
            }
        } else if let purpose = requests.nextPending(.afterSubscriptions) {
            refuse(purpose, refusal)
        } else {
            out.notify(messages.refuseNext(code: code, message: message))
        }
    }

    private mutating func refuse(_ purpose: RequestLedger.Purpose, _ refusal: UpstreamRefusal) {
        requests.remove(purpose)
        answered(purpose, .refused(code: refusal.code, message: refusal.message))
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
            out.notify(effects)
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
            for event in device.refused(code: code, message: message) { out.notifyLegacy(event) }
        case (.badgeReset, .refused(let code, let message)):
            device.badgeResetAnswered()
            out.notifyLegacy(.badgeReset(deviceId: nil, code: code, message: message))
        case (.deviceRegistration, .accepted), (.badgeReset, .accepted):
            break
        }
    }

    // MARK: - The HTTP channel

    /// The response of the control request is complete or has failed. Requests without a reply are sent again.
    mutating func controlEnded(isComplete: Bool, at context: EventContext) {
        forgetUnanswered()
        if let pause = control.ended(isComplete: isComplete, retryDelay: options.retryDelay, at: context.now) {
            out.startTimer(.control, after: pause)
        } else {
            out.stopTimer(.control)
        }
    }

    mutating func controlExpired(at context: EventContext) {
        guard let connection = control.connection else { return control.pauseEnded() }
        out.close(connection)
        controlEnded(isComplete: false, at: context)
    }

    /// Leaves the present route for control requests, before another one is used.
    mutating func leaveControlRoute() {
        out.close(control.left())
        out.stopTimer(.control)
        forgetUnanswered()
    }

    private mutating func forgetUnanswered() {
        requests.channelLost()
        subscriptions.channelLost()
        messages.channelLost()
    }
}
