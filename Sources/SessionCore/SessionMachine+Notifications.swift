internal import TLCP

/// What lines mean. Everything on the stream connection counts as a sign of life.
extension SessionMachine {
    mutating func lineReceived(_ line: ArraySlice<UInt8>, on connection: ConnectionID, at tick: Tick) {
        let isStream = state.connection == connection
        guard isStream || control.connection == connection else { return }
        if isStream { aliveness(at: tick) }
        let notification: ServerNotification?
        do throws(TLCPError) {
            notification = try ServerNotification(parsing: line)
        } catch {
            return badData("\(error)", at: tick)
        }
        guard let notification else { return }
        if isStream {
            streamLine(notification, at: tick)
        } else {
            controlLine(notification, at: tick)
        }
    }

    private mutating func aliveness(at tick: Tick) {
        guard let delay = liveness.lineReceived(at: tick.now), let binding = state.binding else { return }
        setStatus(binding.rung.status)
        startTimer(.liveness, after: delay)
    }

    private mutating func streamLine(_ notification: ServerNotification, at tick: Tick) {
        if notification.isDataNotification {
            guard session?.cursor.isFresh() == true else { return }
        }
        switch notification {
        case .update, .subOK, .subCmd, .unsub, .eos, .cs, .ov, .conf:
            subscriptionLine(notification, at: tick)
        case .msgDone, .msgFail:
            perform(messages.received(notification))
        case .mpnReg, .mpnZero, .mpnOK, .mpnConf, .mpnDel:
            deviceLine(notification)
        case .conOK, .conErr, .wsOK, .prog, .loop, .end:
            connectionLine(notification, at: tick)
        case .servName, .clientIP, .cons, .sync, .noop, .probe:
            informationLine(notification, at: tick)
        case .reqOK, .reqErr, .error:
            reply(notification, causePrefix: "ws", at: tick)
        }
    }

    /// A line on the connection of an HTTP control request.
    private mutating func controlLine(_ notification: ServerNotification, at tick: Tick) {
        switch notification {
        case .reqOK, .reqErr, .error:
            control.answerReceived()
            reply(notification, causePrefix: "http", at: tick)
        default:
            break
        }
    }

    private mutating func subscriptionLine(_ notification: ServerNotification, at tick: Tick) {
        var found: [SubscriptionEffect] = []
        swap(&found, &effects)
        subscriptions.received(notification, into: &found)
        perform(found, at: tick)
        found.removeAll(keepingCapacity: true)
        swap(&found, &effects)
    }

    private mutating func connectionLine(_ notification: ServerNotification, at tick: Tick) {
        switch notification {
        case .conOK(let sessionID, let requestLimit, let keepaliveMillis, let controlLink):
            let accepted = ConnectionAccepted(
                sessionID: sessionID,
                requestLimit: requestLimit,
                keepalive: .milliseconds(max(0, keepaliveMillis)),
                controlLink: controlLink
            )
            sessionAccepted(accepted, at: tick)
        case .conErr(let code, let message):
            refused(code: code, message: message, state.refusal(code: code, message: message), at: tick)
        case .end(let code, let message):
            sessionClosed(code: code, message: message, at: tick)
        case .wsOK: socketGreeted(at: tick)
        case .prog(let progressive): resumed(from: progressive, at: tick)
        case .loop(let millis): looped(delay: .milliseconds(max(0, millis)), at: tick)
        default: break
        }
    }

    private mutating func sessionAccepted(_ accepted: ConnectionAccepted, at tick: Tick) {
        if let creation = state.creation {
            created(creation, accepted, at: tick)
        } else if let binding = state.binding {
            rebound(binding, accepted, at: tick)
        } else if state.recovery != nil {
            session?.requestLimit = accepted.requestLimit
            tellLegacy(.connectionEstablished)
        }
    }

    private mutating func informationLine(_ notification: ServerNotification, at tick: Tick) {
        guard session != nil else { return }
        switch notification {
        case .servName(let name): setProperty(.serverSocketName(name))
        case .clientIP(let address):
            ladder.clientAddressSeen(address)
            setProperty(.clientIp(address))
        case .cons(let limit): setProperty(.realMaxBandwidth(RealMaxBandwidth(limit)))
        case .sync(let seconds): synchronised(serverSeconds: seconds, at: tick)
        default: break
        }
    }

    private mutating func synchronised(serverSeconds: Int, at tick: Tick) {
        guard let binding = state.binding, binding.step == .streaming else { return }
        guard slowing.synchronised(serverSeconds: serverSeconds, at: tick.now), options.slowingEnabled,
            ladder.disableStreaming(forced: options.forcedTransport)
        else { return }
        considerSwitch(cause: "slow")
    }

    private mutating func resumed(from progressive: Int, at tick: Tick) {
        let isRecovering = state.recovery != nil
        guard let resumption = session?.cursor.resumed(from: progressive, inRecovery: isRecovering) else { return }
        if case .mismatch(let received, let expected) = resumption {
            tellLegacy(.connectionFailed(reason: "the flow of data has a gap"))
            loseSession(cause: "prog.mismatch.\(received).\(expected)", wait: .firstRetry, at: tick)
        }
    }

    private mutating func deviceLine(_ notification: ServerNotification) {
        switch notification {
        case .mpnReg(let deviceID, _):
            let (event, next) = device.registered(deviceID: deviceID)
            if let event { tellLegacy(event) }
            if let next { requests.ask(next) }
        case .mpnZero(let deviceID):
            tellLegacy(.badgeReset(deviceId: deviceID, code: nil, message: nil))
        default:
            break
        }
    }
}

extension RealMaxBandwidth {
    fileprivate init(_ granted: GrantedBandwidth) {
        self =
            switch granted {
            case .limited(let value): .limited(value)
            case .unlimited: .unlimited
            case .unmanaged: .unmanaged
            }
    }
}
