package import TLCP

/// All decisions of one client's session: statuses, transports, binds, recovery, requests, retries.
///
/// The driver reports facts by the event methods and performs the returned actions in order. The machine does no I/O,
/// owns no clock and draws no random number: each event carries an `EventContext`. Each part decides one concern from its
/// own state; the machine passes facts on and joins the decisions.
///
/// Where `forcedTransport` admits no transport that works, official clients stop silently; this machine keeps trying,
/// with the retry delay between attempts, as the class reference requires.
package struct SessionMachine: ~Copyable {
    /// The status that was notified last.
    package var status: ClientStatus { out.status }
    /// The pause between the last failure and the attempt after it; nil: nothing has failed yet.
    package var attemptPause: Duration? { pace.lastPause }

    var state = SessionState.idle
    var session: SessionRecord?

    var options: OptionsInForce
    let configuration: SessionConfiguration

    var ladder = TransportLadder()
    var pace: AttemptPace
    var monitor = StreamMonitor()

    var opening: SessionOpening
    var requests: RequestQueue

    var out = SessionOutput()

    /// A machine for one client, disconnected.
    package init(
        options: ConnectionOptionValues = ConnectionOptionValues(),
        details: ConnectionDetailValues = ConnectionDetailValues(),
        configuration: SessionConfiguration = SessionConfiguration()
    ) {
        self.options = OptionsInForce(options)
        opening = SessionOpening(details, configuration)
        self.configuration = configuration
        pace = AttemptPace(retryDelay: self.options.retryDelay)
        requests = RequestQueue(configuration, reverseHeartbeat: self.options.reverseHeartbeat)
    }

    // MARK: - Calls of the user

    /// `connect()`: begins a creation while `DISCONNECTED`, if a server address is set; ends the pause before the next
    /// creation or recovery attempt, but not before the least retry delay is over; does nothing while an attempt is under way
    /// or a session is bound.
    package mutating func connectRequested(at context: EventContext) -> [SessionAction] {
        switch state {
        case .idle:
            guard opening.connecting() != nil else { break }
            pace.reset(to: options.retryDelay)
            opening.cause = "api"
            beginCreation(at: context)
        case .retrying, .recovering:
            if state.connection == nil { cutPauseShort(at: context) }
        case .creating, .bound:
            break
        }
        return takeActions()
    }

    /// `disconnect()`: ends the session or the attempt to create one.
    package mutating func disconnectRequested(at context: EventContext) -> [SessionAction] {
        disconnect(at: context)
        return takeActions()
    }

    /// `shutdown()`: as `disconnect()`; messages that wait for a session are aborted as well.
    package mutating func shutdownRequested(at context: EventContext) -> [SessionAction] {
        disconnect(at: context)
        out.notify(requests.messages.sessionEnded())
        return takeActions()
    }

    /// `subscribe(…)`; the caller has checked the properties.
    package mutating func subscribe(
        _ token: SubscriptionToken,
        _ properties: SubscriptionProperties,
        at context: EventContext
    ) -> [SessionAction] {
        // The only effect is a pending request.
        _ = requests.subscriptions.subscribe(token, properties)
        return settle(at: context)
    }

    /// `unsubscribe(…)`; unknown tokens are ignored.
    package mutating func unsubscribe(_ token: SubscriptionToken, at context: EventContext) -> [SessionAction] {
        perform(requests.subscriptions.unsubscribe(token), at: context)
        return settle(at: context)
    }

    /// `requestedMaxFrequency` was set on an active subscription; the caller has checked that it may.
    package mutating func changeMaxFrequency(
        _ token: SubscriptionToken,
        _ frequency: RequestedMaxFrequency?,
        at context: EventContext
    ) -> [SessionAction] {
        // The only effect is a pending request.
        _ = requests.subscriptions.changeMaxFrequency(token, frequency)
        return settle(at: context)
    }

    /// `sendMessage(…)`.
    package mutating func sendMessage(
        _ message: PendingMessage,
        enqueueWhileDisconnected: Bool,
        at context: EventContext
    ) -> [SessionAction] {
        let isConnecting = status != .disconnected && status != .disconnectedWillRetry
        if isConnecting || enqueueWhileDisconnected, requests.messages.admits(message) {
            requests.messages.accept(message)
            sendPendingRequests(at: context)
        } else if message.hasDelegate {
            out.notify(.message(message.token, .aborted(sentOnNetwork: false)))
        } else {
            out.notify(.messageReleased(message.token))
        }
        return takeActions()
    }

    /// Connection options were set; `values` are all options.
    package mutating func optionsChanged(_ values: ConnectionOptionValues, at context: EventContext) -> [SessionAction]
    {
        let old = options.set(values)
        if values.retryDelay != old.retryDelay { pace.delayChanged(to: options.retryDelay) }
        if values.sessionRecoveryTimeout != old.sessionRecoveryTimeout { startRecoveryDeadline(at: context) }
        if values.reverseHeartbeatInterval != old.reverseHeartbeatInterval {
            requests.heartbeat.optionChanged(to: options.reverseHeartbeat, at: context.now, &out)
        }
        requests.controls.bandwidthOption(is: values.requestedMaxBandwidth)
        guard hasSession else { return takeActions() }
        if !values.hasSameHeaders(as: old), state.binding?.transport.usesWebSocket == true {
            session?.hold(headers: old.httpExtraHeaders)
        }
        if values.requestedMaxBandwidth != old.requestedMaxBandwidth { requests.controls.negotiateBandwidth() }
        if values.forcedTransport != old.forcedTransport { considerSwitch() }
        return settle(at: context)
    }

    /// Connection details were set; `values` are all details. They take effect at the next creation.
    package mutating func detailsChanged(_ values: ConnectionDetailValues, at context: EventContext) -> [SessionAction]
    {
        opening.details = values
        return takeActions()
    }

    // MARK: - Sessions that pass from one client to another

    /// The `LS_subId` of an active subscription.
    package func number(of token: SubscriptionToken) -> Int? { requests.subscriptions.number(of: token) }

    /// Continues a session that another client has opened: recovers it, so that the server repeats all data
    /// notifications after the known ones. If it cannot be recovered, its subscriptions end as at any lost session, and
    /// a new session follows. Only for a machine without a session and without subscriptions; without a server address
    /// nothing happens.
    package mutating func adopt(
        _ offer: OfferedSession,
        _ adopted: [AdoptedSubscription],
        at context: EventContext
    ) -> [SessionAction] {
        guard state.isIdle, let creationAddress = opening.connecting() else { return takeActions() }
        let isAllowed = configuration.allowedAddresses?.allows(offer.address) ?? true
        let address = isAllowed ? offer.address : creationAddress
        pace.reset(to: options.retryDelay)
        opening.sessionBegan(SessionID(offer.id))
        session = SessionRecord(
            id: SessionID(offer.id),
            creationAddress: creationAddress,
            ignoresControlLink: options.values.serverInstanceAddressIgnored,
            address: address,
            // No request is sent before a `CONOK` has named the limit.
            requestLimit: 0,
            cursor: RecoveryCursor(processed: offer.processed)
        )
        // Requests of the other client may have had the identifiers below.
        requests.skipIDs(upTo: SubscriptionStore.reservedNumbers + offer.processed)
        requests.controls.sessionRequested(options.values.requestedMaxBandwidth)
        numberEvents()
        out.setProperty(.sessionId(offer.id))
        if address != creationAddress { out.setProperty(.serverInstanceAddress(address)) }
        perform(requests.subscriptions.adopt(adopted), at: context)
        opening.cause = "ws.error"
        let since = pace.interrupted(at: context.now)
        state.transition(to: .recovering(Recovery(since: since)))
        pace.pauseOmitted()
        out.setStatus(.disconnectedTryingRecovery)
        startRecoveryDeadline(at: context)
        recover(at: context)
        return takeActions()
    }

    /// Leaves the session to another client: closes its connections, and sends nothing to the server.
    package mutating func abandon(at context: EventContext) -> [SessionAction] {
        if !state.isIdle { terminate(at: context) }
        return takeActions()
    }

    // MARK: - Transport events

    /// A WebSocket is open. (For HTTP it may be reported or not; it is ignored.)
    package mutating func transportOpened(_ connection: ConnectionID, at context: EventContext) -> [SessionAction] {
        if state.connection == connection { socketOpened(connection) }
        return takeActions()
    }

    /// A connection ended that the machine did not close; reported once for each.
    package mutating func transportClosed(
        _ connection: ConnectionID,
        _ end: TransportEnd,
        at context: EventContext
    ) -> [SessionAction] {
        connectionClosed(connection, end, at: context)
        return settle(at: context)
    }

    package mutating func timerFired(_ timer: SessionTimer, at context: EventContext) -> [SessionAction] {
        if out.fired(timer) { expired(timer.purpose, at: context) }
        return settle(at: context)
    }

    private mutating func expired(_ purpose: SessionTimer.Purpose, at context: EventContext) {
        switch purpose {
        case .transport: connectionFailed(.timeout, reason: "no answer in time", at: context)
        case .idle: connectionFailed(.timeout, reason: "no answer to a poll in time", at: context)
        case .liveness: livenessExpired(at: context)
        case .retry, .recovery: pauseEnded(at: context)
        case .recoveryDeadline: recoveryDeadlinePassed(at: context)
        case .polling: bindPauseEnded(at: context)
        case .control: requests.timeEnded(retryDelay: options.retryDelay, at: context.now, &out)
        case .heartbeat: requests.heartbeatDue(on: state.controlRoute, at: context.now, &out)
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
        return settle(at: context)
    }

    // MARK: - For the legacy adapter

    /// The device token for push notifications is known or has changed; the request registers it.
    package mutating func deviceTokenChanged(
        _ device: MPNRegisterRequest,
        at context: EventContext
    ) -> [SessionAction] {
        requests.controls.tokenChanged(device, hasSession: hasSession)
        return settle(at: context)
    }

    /// The badge counter on the server is to be reset.
    package mutating func badgeResetRequested(at context: EventContext) -> [SessionAction] {
        if let event = requests.controls.badgeResetRequested() { out.notifyLegacy(event) }
        return settle(at: context)
    }

    // MARK: - Requests

    /// Sends pending requests as far as the route allows: on the stream's WebSocket, or by one HTTP request at a time.
    mutating func sendPendingRequests(at context: EventContext) {
        switch state.controlRoute {
        case .closed: break
        case .socket(let socket):
            requests.sendAll(on: socket, limit: session?.requestLimit ?? 0, at: context.now, &out)
        case .http:
            guard let session, let batch = requests.nextPost(limit: session.requestLimit, &out) else { return }
            let target = batch.name.httpTarget(session: session.id, version: opening.version)
            let request = TransportRequest.Request(target: target, body: batch.bytes)
            let connection = open(.httpControl, at: session.address, request)
            out.startTimer(.control, after: options.responseTime)
            requests.posted(on: connection, at: context.now, &out)
        }
    }

    // MARK: - Actions

    /// Finishes an event: sends pending requests, and returns the actions.
    mutating func settle(at context: EventContext) -> [SessionAction] {
        sendPendingRequests(at: context)
        return takeActions()
    }

    mutating func takeActions() -> [SessionAction] {
        for token in requests.messages.takeReleased() { out.notify(.messageReleased(token)) }
        var actions: [SessionAction] = []
        swap(&actions, &out.actions)
        return actions
    }

    mutating func perform(_ effects: [SubscriptionEffect], at context: EventContext) {
        for effect in effects {
            switch effect {
            case .notify(let token, let event): out.notify(.subscription(token, event))
            case .requestsWaiting: sendPendingRequests(at: context)
            case .protocolViolation(let reason): return badData(reason, at: context)
            }
        }
    }
}
