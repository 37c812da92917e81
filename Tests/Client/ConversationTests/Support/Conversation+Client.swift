internal import DemoServer
internal import SessionCore
internal import TLCP

/// The client's end.
extension Conversation {
    func perform(_ actions: [SessionAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: SessionAction) {
        switch action {
        case .openTransport(let connection, let order): open(connection, order)
        case .send(let connection, let bytes): send(.message(LinkID(connection), bytes), on: connection)
        case .closeTransport(let connection): leave(connection, after: .zero)
        case .releaseTransport(let connection): leave(connection, after: .seconds(1))
        case .scheduleTimer(let timer, let delay): timers[timer] = clock.schedule(.timer(timer), at: clock.now + delay)
        case .cancelTimer(let timer):
            if let ticket = timers.removeValue(forKey: timer) { clock.cancel(ticket) }
        case .notify(let event):
            follow(event)
            checker.saw(event)
        case .numbered, .rememberVersion, .log: break
        }
    }

    private func open(_ connection: ConnectionID, _ order: TransportRequest) {
        links[connection] = SimulatedLink(kind: order.kind, openedAt: clock.now)
        links[connection]?.stall(until: clock.now + slowness)
        slowness = .zero
        if refusals > 0 {
            refusals -= 1
            deliver(.ended(connection, .unreachable(reason: "refused")), on: connection)
        } else if let request = order.request {
            let parts = request.target.split(separator: "?", maxSplits: 1).map(String.init)
            let text = HTTPRequestText(path: parts[0], query: parts.count > 1 ? parts[1] : "", body: request.body)
            send(.request(LinkID(connection), text), on: connection)
        } else {
            send(.handshake(LinkID(connection), subprotocol: order.subprotocol), on: connection)
        }
    }

    private func send(_ occurrence: Occurrence, on connection: ConnectionID) {
        guard links[connection]?.isHalfOpen == false else { return }
        if let time = links[connection]?.arrivalAtServer(sentAt: clock.now, latency: someLatency()) {
            clock.schedule(occurrence, at: time)
        }
    }

    private func leave(_ connection: ConnectionID, after delay: Duration) {
        links[connection]?.isClientPresent = false
        guard let link = links[connection], !link.isHalfOpen,
            let time = links[connection]?.arrivalAtServer(sentAt: clock.now + delay, latency: someLatency())
        else { return }
        clock.schedule(.closed(LinkID(connection)), at: time)
    }

    /// Performs the action of a status; options that the machine has changed are passed back as the user's.
    private func follow(_ event: SessionEvent) {
        if case .statusChanged(let status) = event {
            for trouble in reactions.removeValue(forKey: status) ?? [] {
                clock.schedule(.trouble(trouble), at: clock.now)
            }
        }
        if case .propertyChanged(let change) = event { options.take(change) }
    }

    // MARK: - What arrives

    func opened(_ connection: ConnectionID) {
        guard links[connection]?.isClientPresent == true else { return }
        perform(client.transportOpened(connection, at: context()))
    }

    func arrived(_ bytes: [UInt8], on connection: ConnectionID) {
        guard let link = links[connection], link.isClientPresent, !link.isHalfOpen else { return }
        let lines: [ArraySlice<UInt8>]
        do {
            lines = try links[connection]?.splitter.feed(bytes) ?? []
        } catch {
            checker.violations.append("bytes without lines: \(error)")
            return
        }
        for line in lines {
            guard let link = links[connection], link.isClientPresent, !link.isHalfOpen else { return }
            perform(client.received(connection, lines: [line], at: context()))
            if link.isStream { strike(on: connection) }
        }
    }

    func ended(_ connection: ConnectionID, _ closure: TransportEnd) {
        guard let link = links[connection], !link.isHalfOpen else { return }
        links[connection] = nil
        if link.isClientPresent { perform(client.transportClosed(connection, closure, at: context())) }
    }

    // MARK: - The user

    func connect() { perform(client.connectRequested(at: context())) }

    func disconnect() { perform(client.disconnectRequested(at: context())) }

    func subscribe(_ properties: SubscriptionProperties) {
        let token = checker.expect(properties)
        perform(client.subscribe(token, properties, at: context()))
    }

    func send(_ text: String, sequence: String?, enqueues: Bool) {
        let token = checker.expectMessage()
        let message = PendingMessage(token, text: text, sequence: sequence, delayTimeout: nil, hasDelegate: true)
        perform(client.sendMessage(message, enqueueWhileDisconnected: enqueues, at: context()))
    }

    func perform(_ deed: Disturbance.UserAction) {
        switch deed {
        case .force(let transport):
            options.forcedTransport = transport
            perform(client.optionsChanged(options, at: context()))
        case .disconnect: disconnect()
        case .connect: connect()
        case .resubscribe:
            for (token, properties) in checker.activeSubscriptions {
                checker.ended(token)
                perform(client.unsubscribe(token, at: context()))
                subscribe(properties)
            }
        case .limitFrequency(let frequency):
            for (token, _) in checker.activeSubscriptions {
                perform(client.changeMaxFrequency(token, frequency, at: context()))
            }
        }
    }
}
