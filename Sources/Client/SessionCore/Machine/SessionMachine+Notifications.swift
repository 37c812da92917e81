internal import TLCP

/// Handles lines. Lines on the stream connection restart its supervision.
extension SessionMachine {
    package var hasSession: Bool { session != nil }

    /// Lines arrived, in order, without their CR-LF; none: bytes of an incomplete line, which count as data of the stream.
    /// Lines of connections that were given up are ignored.
    package mutating func received(
        _ connection: ConnectionID,
        lines: [ArraySlice<UInt8>],
        at context: EventContext
    ) -> [SessionAction] {
        out.actions.reserveCapacity(lines.count)
        var isStream = state.connection == connection
        if isStream {
            monitor.lastLine = context.now
            if monitor.phase == .stalled { stallEnded() }
        }
        // A plain update makes no request due.
        var arePlain = true
        var effects: [SubscriptionEffect] = []
        for line in lines {
            do throws(TLCPError) {
                if isStream, let line = try UpdateLine(parsing: line) {
                    // The short way of the line that nearly all lines are: the event of a plain update is its only effect.
                    guard isFresh() else { continue }
                    if let (token, update) = requests.subscriptions.received(line) {
                        out.actions.append(.notify(.subscription(token, .update(update))))
                        continue
                    }
                } else if isStream || requests.connection == connection,
                    let notification = try ServerNotification(parsing: line)
                {
                    if isStream {
                        streamLine(notification, at: context)
                    } else {
                        controlLine(notification, at: context)
                    }
                }
            } catch {
                badData("\(error)", at: context)
            }
            swap(&effects, &requests.subscriptions.effects)
            if !effects.isEmpty {
                perform(effects, at: context)
                effects.removeAll(keepingCapacity: true)
            }
            arePlain = false
            isStream = state.connection == connection
        }
        // The memory of the list serves for the next lines.
        if effects.capacity > 0 { swap(&effects, &requests.subscriptions.effects) }
        if !arePlain { return settle(at: context) }
        var actions: [SessionAction] = []
        swap(&actions, &out.actions)
        return actions
    }

    /// Counts a data notification, and announces the number that the next events come from; false if it was processed
    /// before.
    private mutating func isFresh() -> Bool {
        guard session?.cursor.isFresh() == true else { return false }
        if !pace.isStable { connectionProved() }
        if configuration.numbersNotifications { numberEvents() }
        return true
    }

    /// A bound connection carried data or a keepalive. What a recovery repeats proves nothing about the bind after it.
    private mutating func connectionProved() {
        guard let binding = state.binding else { return }
        pace.proved()
        ladder.connectionProved(over: binding.transport)
    }

    private mutating func stallEnded() {
        let delay = monitor.stallEnded()
        guard let binding = state.binding else { return }
        out.setStatus(binding.transport.status)
        out.startTimer(.liveness, after: delay)
    }

    mutating func livenessExpired(at context: EventContext) {
        let result = monitor.timerFired(
            at: context.now,
            stalledTimeout: Duration(optionSeconds: options.values.stalledTimeout),
            reconnectTimeout: Duration(optionSeconds: options.values.reconnectTimeout)
        )
        switch result {
        case .wait(let delay): out.startTimer(.liveness, after: delay)
        case .stalled(let delay):
            out.setStatus(.stalled)
            out.startTimer(.liveness, after: delay)
        case .lost: connectionFailed(.timeout, reason: "the connection is stalled", at: context)
        case nil: break
        }
    }

    private mutating func streamLine(_ notification: ServerNotification, at context: EventContext) {
        if notification.isDataNotification, !isFresh() { return }
        switch notification {
        case .update, .subOK, .subCmd, .unsub, .eos, .cs, .ov, .conf: requests.subscriptions.received(notification)
        case .msgDone, .msgFail: out.notify(requests.messages.received(notification))
        case .mpnReg, .mpnZero, .mpnOK, .mpnConf, .mpnDel: out.notify(requests.controls.received(notification))
        case .conOK, .conErr, .wsOK, .prog, .loop, .end: connectionLine(notification, at: context)
        case .servName, .clientIP, .cons, .sync, .noop, .probe: informationLine(notification, at: context)
        case .reqOK, .reqErr, .error: reply(notification, causePrefix: "ws", at: context)
        }
    }

    /// Announces the number of the data notification that the next events come from.
    mutating func numberEvents() {
        if configuration.numbersNotifications, let session { out.actions.append(.numbered(session.cursor.processed)) }
    }

    /// A line on the connection of an HTTP control request.
    private mutating func controlLine(_ notification: ServerNotification, at context: EventContext) {
        switch notification {
        case .reqOK(let id): requests.replyReceived(to: id)
        case .reqErr(let id, _, _): requests.replyReceived(to: id)
        case .error: requests.replyReceived(to: nil)
        default: return
        }
        reply(notification, causePrefix: "http", at: context)
    }

    /// `REQOK`, `REQERR` or `ERROR`, on the stream or on the connection of an HTTP control request.
    private mutating func reply(_ notification: ServerNotification, causePrefix: String, at context: EventContext) {
        switch notification {
        case .reqOK(let id):
            if let id { perform(requests.answered(id, .accepted, &out), at: context) }
        case .reqErr(_, 20, let message):
            out.notifyLegacy(.serverFailed(code: 20, message: message, isRetried: true))
            loseSession(cause: "\(causePrefix).reqerr.20", wait: .firstRetry, at: context)
        case .reqErr(_, let code, let message)
        where code == 11 || [65, 67].contains(code) && !configuration.outlivesMalformedRequests:
            let legacy = LegacyEvent.serverFailed(code: code, message: message, isRetried: false)
            fail(code: code == 11 ? 21 : code, message: message, legacy: legacy, at: context)
        case .reqErr(let id, let code, let message):
            perform(requests.answered(id, .refused(code: code, message: message), &out), at: context)
        case .error(let code, let message):
            fail(code: code, message: message, at: context)
        default:
            break
        }
    }

    private mutating func connectionLine(_ notification: ServerNotification, at context: EventContext) {
        switch notification {
        case .conOK(let sessionID, let requestLimit, let keepaliveMillis, let controlLink):
            let accepted = ConnectionAccepted(
                sessionID: sessionID,
                requestLimit: requestLimit,
                keepalive: .milliseconds(max(0, keepaliveMillis)),
                controlLink: controlLink
            )
            sessionAccepted(accepted, at: context)
        case .conErr(let code, let message):
            refused(state.refusal(code: code, message: message), code: code, message: message, at: context)
        case .end(let code, let message):
            let reported = SessionState.reportedCode(end: code)
            let refusal = state.closure(code: code)
            refused(refusal, code: code, message: message, endReportedAs: reported, at: context)
        case .wsOK: socketGreeted(at: context)
        case .prog(let progressive): resumed(from: progressive, at: context)
        case .loop(let millis): looped(delay: .milliseconds(max(0, millis)), at: context)
        default: break
        }
    }

    private mutating func sessionAccepted(_ accepted: ConnectionAccepted, at context: EventContext) {
        if let creation = state.creation {
            created(creation, accepted, at: context)
        } else if let binding = state.binding {
            rebound(binding, accepted, at: context)
        } else if state.recovery != nil {
            session?.requestLimit = accepted.requestLimit
            follow(controlLink: accepted.controlLink)
            out.notifyLegacy(.connectionEstablished)
        }
    }

    private mutating func informationLine(_ notification: ServerNotification, at context: EventContext) {
        guard session != nil else { return }
        switch notification {
        case .servName(let name): out.setProperty(.serverSocketName(name))
        case .clientIP(let address):
            ladder.clientAddressSeen(address)
            out.setProperty(.clientIp(address))
        case .cons(let limit):
            out.setProperty(.realMaxBandwidth(limit), isAnswer: requests.controls.confirmed(limit))
        case .sync(let seconds): synchronised(serverSeconds: seconds, at: context)
        case .probe: connectionProved()
        default: break
        }
    }

    private mutating func synchronised(serverSeconds: Int, at context: EventContext) {
        guard state.binding?.step == .streaming,
            monitor.synchronised(serverSeconds: serverSeconds, at: context.now),
            ladder.disableStreaming(forced: options.values.forcedTransport)
        else { return }
        considerSwitch(cause: "slow")
    }

    private mutating func resumed(from progressive: Int, at context: EventContext) {
        let isRecovering = state.recovery != nil
        guard let resumption = session?.cursor.resumed(from: progressive, inRecovery: isRecovering) else { return }
        if case .mismatch(let received, let expected) = resumption {
            out.emit(.log(.progressMismatch(received: received, expected: expected)))
            out.notifyLegacy(.connectionFailed(reason: "the flow of data has a gap"))
            loseSession(cause: "prog.mismatch.\(received).\(expected)", wait: .firstRetry, at: context)
        }
    }
}
