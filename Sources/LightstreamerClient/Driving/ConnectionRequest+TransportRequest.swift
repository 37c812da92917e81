internal import SessionCore
internal import TLCPTransports

extension ConnectionRequest {
    /// What the machine wants, in terms of the network; nil for an address that cannot be understood.
    init?(_ order: TransportRequest, pins: [String]) {
        guard let address = ServerAddress(order.address) else { return nil }
        let kind: Kind =
            switch order.kind {
            case .webSocket: .webSocket
            case .httpStream: .httpStream
            case .httpPoll: .httpPoll
            case .httpControl: .httpControl
            }
        let prefix = address.path.hasSuffix("/") ? String(address.path.dropLast()) : address.path
        self.init(
            kind: kind,
            host: address.host,
            port: address.effectivePort,
            isSecure: address.scheme == "https",
            target: prefix + (order.request?.target ?? "/lightstreamer")
        )
        subprotocol = order.subprotocol ?? ""
        body = order.request?.body ?? []
        headers = order.headers
        self.pins = pins.compactMap { CertificatePin($0) }
    }
}

extension TransportClosure {
    /// How a connection ended, in the machine's terms.
    init(_ end: TransportEnd) {
        switch end {
        case .completed: self = .completed
        case .failed(let reason): self = .failed(reason: reason)
        case .identityRejected(let reason): self = .identityRejected(reason: reason)
        }
    }
}

extension ConnectionOptionValues {
    /// Takes over what the server or the library has set.
    mutating func take(_ change: PropertyChange) {
        switch change {
        case .keepaliveInterval(let seconds): keepaliveInterval = seconds
        case .idleTimeout(let seconds): idleTimeout = seconds
        case .pollingInterval(let seconds): pollingInterval = seconds
        case .currentConnectTimeout(let seconds): currentConnectTimeout = seconds
        case .sessionId, .serverInstanceAddress, .serverSocketName, .clientIp, .realMaxBandwidth: break
        }
    }
}
