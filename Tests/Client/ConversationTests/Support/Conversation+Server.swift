internal import DemoServer
internal import SessionCore

/// The server's end, and the links between.
extension Conversation {
    func perform(_ actions: [ServerAction]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: ServerAction) {
        switch action {
        case .respond(let link, let answer):
            let connection = ConnectionID(link)
            if (200..<300).contains(answer.status) {
                deliver(answer.body, on: connection)
                deliver(.ended(connection, .completed), on: connection)
            } else {
                deliver(.ended(connection, .refused(reason: "status \(answer.status)")), on: connection)
            }
        case .openStream: break
        case .write(let link, let bytes, _): deliver(bytes, on: ConnectionID(link))
        case .endStream(let link, _), .close(let link, _):
            deliver(.ended(ConnectionID(link), .completed), on: ConnectionID(link))
        case .cut(let link): deliver(.ended(ConnectionID(link), .failed(reason: "cut")), on: ConnectionID(link))
        case .stopReading: break
        }
    }

    func handshake(_ link: LinkID, _ subprotocol: String?) {
        let connection = ConnectionID(link)
        if let status = server.webSocketRequested(at: clock.now) {
            return deliver(.ended(connection, .failed(reason: "status \(status)")), on: connection)
        }
        links[connection]?.isServerPresent = true
        deliver(.opened(connection), on: connection)
        perform(server.webSocketOpened(link, subprotocol: subprotocol, from: "10.0.0.1", at: clock.now))
    }

    /// Sends bytes to the client, in small pieces if configured.
    private func deliver(_ bytes: [UInt8], on connection: ConnectionID) {
        guard isSplit else { return deliver(.bytes(connection, bytes), on: connection) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = min(rest.count, Int.random(in: 1...60, using: &random))
            deliver(.bytes(connection, Array(rest.prefix(length))), on: connection)
            rest = rest.dropFirst(length)
        }
    }

    func deliver(_ occurrence: Occurrence, on connection: ConnectionID) {
        guard links[connection]?.isHalfOpen == false else { return }
        if let time = links[connection]?.arrivalAtClient(sentAt: clock.now, latency: someLatency()) {
            clock.schedule(occurrence, at: time)
        }
    }

    func someLatency() -> Duration {
        .microseconds(Int64.random(in: 1...max(1, latency.clampedNanoseconds / 1_000), using: &random))
    }

    /// Breaks a connection: bytes under way are lost, and both ends detect it.
    func breakLink(_ connection: ConnectionID) {
        guard let link = links.removeValue(forKey: connection) else { return }
        clock.schedule(.closed(LinkID(connection)), at: clock.now + someLatency())
        guard link.isClientPresent else { return }
        perform(client.transportClosed(connection, .failed(reason: "broken"), at: context()))
    }

    /// Breaks the connections of the session's stream.
    func breakStream() {
        for (connection, link) in links where link.isStream && link.isClientPresent { breakLink(connection) }
    }

    // MARK: - Data

    /// Publishes for a time, at random intervals.
    func publish(for time: Duration) {
        publisher.lasts = clock.now + time
        clock.schedule(.publication, at: clock.now)
        run(for: time)
    }

    func publish() {
        guard clock.now < publisher.lasts else { return }
        publishOnce()
        clock.schedule(.publication, at: clock.now + .milliseconds(Int64.random(in: 2...80, using: &random)))
    }

    func publishOnce() {
        let (adapter, order) = publisher.next()
        perform(server.published(order, to: adapter, at: clock.now))
    }
}
