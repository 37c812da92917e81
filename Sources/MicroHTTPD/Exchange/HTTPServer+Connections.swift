internal import CMicroHTTPD

/// The life of a connection, as the library reports it.
extension HTTPServer {
    /// Whether a connection from there is accepted.
    func admits(_ peer: PeerAddress) -> Bool {
        driver.ledger.admits(peer)
    }

    /// A connection has been accepted.
    func started(_ connection: OpaquePointer) -> ConnectionRecord {
        connections += 1
        let peer = PeerAddress(cmhd_peer(connection))
        return driver.requestTimes.add(
            peer: peer,
            id: driver.ledger.opened(peer),
            descriptor: cmhd_descriptor(connection)
        )
    }

    /// A connection has been closed, or its socket taken.
    func closed(_ record: ConnectionRecord) {
        connections -= 1
        driver.requestTimes.remove(record)
        if !record.isTakenOver { driver.ledger.closed(record.peer) }
    }

    /// A request line has been read.
    func requestBegan(target: TargetText, _ connection: OpaquePointer, _ record: ConnectionRecord) -> Exchange {
        driver.requestTimes.requestBegan(record)
        return driver.beginExchange(on: self, target: target, connection, record)
    }

    /// A request is over.
    func completed(_ exchange: Exchange, _ reason: MHD_RequestTerminationCode) {
        if let stream = exchange.secureStream {
            exchange.secureStream = nil
            let isTimeout = reason == .REQUEST_TERMINATED_TIMEOUT_REACHED
            driver.roster.closed(stream, isTimeout ? .blockedTooLong : .peerClosed)
        }
        driver.requestTimes.requestEnded(exchange.record)
        driver.endExchange(exchange)
    }
}
