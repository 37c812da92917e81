/// The read-only properties that a session gives to the client, as they were notified last.
struct ServerProperties {
    private var sessionID: String?
    private var instanceAddress: String?
    private var socketName: String?
    private var clientAddress: String?
    /// The bandwidth limit in force.
    private(set) var realMaxBandwidth: RealMaxBandwidth?

    /// Takes a value over. False: it is the one that is known, so there is nothing to notify.
    mutating func apply(_ change: PropertyChange) -> Bool {
        switch change {
        case .sessionId(let value): Self.replace(&sessionID, by: value)
        case .serverInstanceAddress(let value): Self.replace(&instanceAddress, by: value)
        case .serverSocketName(let value): Self.replace(&socketName, by: value)
        case .clientIp(let value): Self.replace(&clientAddress, by: value)
        case .realMaxBandwidth(let value): Self.replace(&realMaxBandwidth, by: value)
        case .keepaliveInterval, .idleTimeout, .pollingInterval, .currentConnectTimeout: false
        }
    }

    private static func replace<Value: Equatable>(_ property: inout Value?, by value: Value?) -> Bool {
        guard property != value else { return false }
        property = value
        return true
    }

    /// What the end of a session changes, in the order of the notifications.
    static var atSessionEnd: [PropertyChange] {
        [.serverInstanceAddress(nil), .sessionId(nil), .serverSocketName(nil), .clientIp(nil), .realMaxBandwidth(nil)]
    }
}
