internal import Logging
internal import SessionCore
internal import TLCPTransports

/// The owner of a client's `SessionMachine`: takes inputs one at a time, calls the machine, and performs the actions
/// in order. Used by a single task.
final class SessionDriver {
    private let core: ClientCore
    private let connector: any TransportConnector
    private let clock: any ClientClock
    private let delivery: EventDelivery
    private let timers: SessionTimers
    private var links: [ConnectionID: Link] = [:]
    /// The bytes of a connection that are handled before its receive window gets them back: half of the window, so that
    /// most batches need no call of the network thread.
    private let returnedBytes: Int
    /// The options last passed to the machine.
    private var options: ConnectionOptionValues
    private var certificatePins: [String] = []
    private var machine: SessionMachine
    /// Whether another client may have the session, which is then abandoned after the present actions.
    private var hasLostSession = false
    /// When the driver has to pause.
    private var turnEnd = Moment.zero
    /// Whether a call that ends the session waits. The lines before it may take long, and are not handled.
    private var skipsLines = false
    /// The time and the random number of the present step.
    private var step = EventContext(now: .zero)
    private let logger: Logger

    /// A connection that is open, or is being opened.
    private struct Link {
        let transport: any Transport
        /// Whether the link is an HTTP request for a session: a response that ends without a session is not TLCP, empty or not.
        var asksForSession = false
        /// The handled bytes that the receive window has not got back.
        var handledBytes = 0
    }

    init(core: ClientCore, connector: any TransportConnector) {
        self.core = core
        self.connector = connector
        logger = core.configuration.logger
        returnedBytes = core.configuration.receiveWindow / 2
        let clock = core.configuration.clock ?? EventLoopClock(core.configuration.eventLoops)
        self.clock = clock
        delivery = EventDelivery(core: core)
        #if MetricsSupport
            if let factory = core.configuration.metrics { delivery.add(MetricsObserver(factory)) }
        #endif
        timers = SessionTimers(clock: clock) { [mailbox = core.mailbox] in mailbox.put(.timerFired($0)) }
        options = core.configuration.edition.defaultOptions
        let address = core.state.withLock { $0.details.serverAddress }
        machine = SessionMachine(options: options, configuration: core.sessionConfiguration(for: address))
    }

    /// Processes inputs until the client is shut down.
    func run() async {
        while true {
            let inputs = await core.mailbox.take()
            turnEnd = clock.now().advanced(by: DriverPace.turnNanoseconds)
            for input in inputs {
                core.rounds.add(1, ordering: .relaxed)
                if case .shutDown = input { return await finish() }
                await handle(input)
                delivery.endInput()
                if clock.now() >= turnEnd { await pause() }
            }
        }
    }

    private func finish() async {
        perform(machine.shutdownRequested(at: context))
        timers.cancelAll()
        await connector.shutDown()
        delivery.finish()
    }

    private var context: EventContext {
        step.random = clock.random()
        return lineContext
    }

    /// The context of lines, with the random number of the step before them: lines are too many to draw one for each, and
    /// no two of them begin an attempt without another step between them.
    private var lineContext: EventContext {
        step.now = clock.now()
        delivery.now = step.now
        return step
    }

    // MARK: - Inputs

    private func handle(_ input: DriverInput) async {
        switch input {
        case .connect: perform(machine.connectRequested(at: context))
        case .connectIfDisconnected(let isWanted, let fail):
            guard machine.status == .disconnected, isWanted() else { return }
            perform(machine.connectRequested(at: context))
            if machine.status == .disconnected { fail(ClientCore.addressError) }
        case .disconnect:
            perform(machine.disconnectRequested(at: context))
            core.state.withLock { $0.pendingDisconnects -= 1 }
            skipsLines = false
        case .subscribe(let subscription, let token, let properties):
            delivery.began(subscription, token)
            let actions = machine.subscribe(token, properties, at: context)
            // Only sessions that another client can continue need the number.
            if core.configuration.handover != nil { subscription.noteNumber(machine.number(of: token)) }
            perform(actions)
        case .adopt(let session, let adopted, let subscriptions):
            for (subscription, token) in subscriptions { delivery.began(subscription, token) }
            let actions = machine.adopt(session, adopted, at: context)
            for (subscription, token) in subscriptions { subscription.noteNumber(machine.number(of: token)) }
            perform(actions)
        case .abandon: perform(machine.abandon(at: context))
        case .unsubscribe(let token):
            perform(machine.unsubscribe(token, at: context))
            delivery.ended(token)
        case .changeMaxFrequency(let token, let frequency):
            perform(machine.changeMaxFrequency(token, frequency, at: context))
        case .sendMessage(let message): send(message)
        case .optionsChanged(let properties, let values): optionsChanged(properties, values)
        case .detailsChanged(let name, let values, let pins):
            certificatePins = pins
            delivery.notifyProperty(name)
            perform(machine.detailsChanged(values, at: context))
        case .deviceTokenChanged(let device): perform(machine.deviceTokenChanged(device, at: context))
        case .badgeReset: perform(machine.badgeResetRequested(at: context))
        case .perform(let body): body(delivery)
        case .transport(let connection, let event): await transportReported(connection, event)
        case .challengeStarted(let challenge): if !links.isEmpty { timers.challengeStarted(challenge) }
        case .challengeEnded(let challenge): timers.challengeEnded(challenge)
        case .timerFired(let timer):
            timers.fired(timer)
            if timer.purpose.limitsSilence { core.state.withLock { $0.attempt.failed(.timeout) } }
            perform(machine.timerFired(timer, at: context))
        case .shutDown: break
        }
    }

    private func send(_ message: OutgoingMessage) {
        delivery.began(message)
        let enqueues = message.enqueueWhileDisconnected
        perform(machine.sendMessage(message.pending, enqueueWhileDisconnected: enqueues, at: context))
    }

    private func optionsChanged(_ properties: [ConnectionOption], _ values: ConnectionOptionValues) {
        for property in properties {
            property.copy(from: values, to: &options)
            core.state.withLock { $0.options.reachedDriver(property) }
            delivery.notifyProperty(property.name)
        }
        perform(machine.optionsChanged(options, at: context))
    }

    /// Handles the lines in slices. The others on the thread go first when a turn is over.
    private func received(_ batch: LineBatch, on connection: ConnectionID) async {
        let first = lineContext
        delivery.received(byteCount: batch.byteCount, lineCount: batch.lines.count)
        if skipsLines { return }
        // Bytes without a complete line end the silence of a stream as well.
        if batch.lines.count <= 1 { return perform(machine.received(connection, lines: batch.lines, at: first)) }
        var rest = batch.lines[...]
        while !rest.isEmpty, !skipsLines {
            let count = DriverPace.slice(of: rest)
            let lines = count == batch.lines.count ? batch.lines : Array(rest.prefix(count))
            rest = rest.dropFirst(count)
            perform(machine.received(connection, lines: lines, at: lineContext))
            if rest.isEmpty { break }
            core.rounds.add(1, ordering: .relaxed)
            if clock.now() >= turnEnd { await pause() }
        }
    }

    /// Lets others on the thread go first.
    private func pause() async {
        delivery.endInput()
        await withCheckedContinuation { continuation in
            clock.pause { continuation.resume() }
        }
        turnEnd = clock.now().advanced(by: DriverPace.turnNanoseconds)
        skipsLines = core.state.withLock { $0.isShutDown || $0.pendingDisconnects > 0 }
    }

    private func transportReported(_ connection: ConnectionID, _ event: TransportEvent) async {
        guard let present = links[connection] else { return }
        switch event {
        case .opened: perform(machine.transportOpened(connection, at: context))
        case .received(let batch):
            await received(batch, on: connection)
            guard var link = links[connection] else { return }
            link.handledBytes += batch.byteCount
            if link.handledBytes >= returnedBytes {
                link.transport.handled(link.handledBytes)
                link.handledBytes = 0
            }
            links[connection] = link
        case .writable(let isWritable):
            perform(machine.socketFilled(connection, isFull: !isWritable, at: context))
        case .closed(let end):
            removeLink(connection)
            let isForeign = present.asksForSession && !machine.hasSession && end == .completed
            let cause = isForeign ? .failed(reason: "the response is not TLCP", kind: .notLightstreamer) : end
            core.state.withLock { $0.attempt.ended(cause) }
            logger.debug("connection ended", metadata: ["connection": "\(connection.rawValue)", "end": "\(end)"])
            perform(machine.transportClosed(connection, end, at: context))
        }
    }

    // MARK: - Actions

    private func perform(_ actions: [SessionAction]) {
        for action in actions {
            switch action {
            case .openTransport(let connection, let request): open(connection, request)
            case .send(let connection, let message): links[connection]?.transport.send(message)
            case .closeTransport(let connection): removeLink(connection)?.transport.close()
            case .releaseTransport(let connection): removeLink(connection)?.transport.release()
            case .scheduleTimer(let timer, let delay): timers.schedule(timer, after: delay)
            case .cancelTimer(let timer): timers.cancel(timer)
            case .notify(.subscription(let token, let event)): delivery.deliver(event, of: token)
            case .notify(let event):
                if case .statusChanged(.disconnected) = event { noteClosure(actions) }
                notify(event)
            case .numbered(let number): core.notificationNumber.store(number, ordering: .relaxed)
            case .rememberVersion(let version, let address): VersionMemory.shared.remember(version, for: address)
            case .log(let note): log(note)
            }
        }
        if hasLostSession {
            hasLostSession = false
            perform(machine.abandon(at: context))
        }
    }

    /// Removes a connection. Challenges whose connections are gone suspend no timer of the next ones.
    @discardableResult
    private func removeLink(_ connection: ConnectionID) -> Link? {
        defer { if links.isEmpty { timers.challengesWithdrawn() } }
        return links.removeValue(forKey: connection)
    }

    private func open(_ connection: ConnectionID, _ request: TransportRequest) {
        let mailbox = core.mailbox
        if machine.hasSession, core.isSessionOffered.load(ordering: .relaxed),
            core.configuration.handover?.isOwner() == false
        {
            hasLostSession = true
            links[connection] = Link(transport: ClosedTransport())
            return
        }
        core.state.withLock { state in
            let setting = state.details.serverAddress
            state.attempt.began(at: request.address, createsSession: !machine.hasSession, setting: setting)
        }
        guard let network = ConnectionRequest(request, pins: certificatePins) else {
            links[connection] = Link(transport: ClosedTransport())
            mailbox.put(.transport(connection, .closed(.failed(reason: "the address is invalid"))))
            return
        }
        logger.debug(
            "connection opening",
            metadata: [
                "connection": "\(connection.rawValue)", "kind": "\(request.kind)", "host": "\(network.host)",
                "port": "\(network.port)",
            ]
        )
        // Unless the connection ends with a failure of its own, its failure is that it gets no response.
        core.state.withLock { $0.attempt.failed(.timeout) }
        let transport = connector.open(network) { mailbox.put(.transport(connection, $0)) }
        links[connection] = Link(transport: transport, asksForSession: request.request != nil && !machine.hasSession)
    }

    private func notify(_ event: SessionEvent) {
        switch event {
        case .propertyChanged(let change): options.take(change)
        case .statusChanged(let status):
            logger.debug("status", metadata: ["status": "\(status.rawValue)"])
            notePause()
        case .legacy(.connectionFailed): notePause()
        case .legacy(.serverFailed(let code, let message, isRetried: true)):
            let refusal = UpstreamRefusal(code: code, message: message)
            core.state.withLock { $0.attempt.failed(.serverError, refusal: refusal) }
        default: break
        }
        delivery.deliver(event)
    }

    /// The error of the server that ends the attempts is known before the status that precedes its event.
    private func noteClosure(_ actions: [SessionAction]) {
        var refusal: UpstreamRefusal?
        for case .notify(.serverError(let code, let message)) in actions {
            refusal = UpstreamRefusal(code: code, message: message)
        }
        core.state.withLock { [refusal] in $0.attempt.closed(by: refusal) }
    }

    /// The pause before the next attempt is known before the events of the failure are.
    private func notePause() {
        let pause = machine.attemptPause
        core.state.withLock { $0.attempt.pause = pause }
    }

    private func log(_ note: SessionLogEvent) {
        if case .progressMismatch = note { core.state.withLock { $0.attempt.failed(.progressMismatch) } }
        switch note {
        case .controlLinkRefused(let address):
            logger.warning("control link ignored: its address is not allowed", metadata: ["address": "\(address)"])
        case .controlRequestsFail(let reason):
            logger.warning(
                "control requests fail: subscriptions and messages wait",
                metadata: ["reason": "\(reason)"]
            )
        case .noTransportAdmitted, .progressMismatch, .badLine:
            logger.debug("session", metadata: ["note": "\(note)"])
        }
    }
}

/// A connection that could not be attempted.
final class ClosedTransport: Transport {
    func send(_ message: [UInt8]) {}
    func handled(_ byteCount: Int) {}
    func close() {}
    func release() {}
}
