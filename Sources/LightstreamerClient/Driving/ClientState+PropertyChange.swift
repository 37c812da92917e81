internal import SessionCore

extension ClientState {
    /// Takes over what the server or the library has set.
    mutating func take(_ change: PropertyChange) {
        switch change {
        case .sessionId(let id):
            if id != nil { counters.sessions &+= 1 }
            session.sessionId = id
        case .serverInstanceAddress(let address): session.serverInstanceAddress = address
        case .serverSocketName(let name): session.serverSocketName = name
        case .clientIp(let address): session.clientIp = address
        case .realMaxBandwidth(let bandwidth): session.realMaxBandwidth = bandwidth
        case .keepaliveInterval(let seconds): overwrite(change.name, \.keepaliveInterval, seconds)
        case .idleTimeout(let seconds): overwrite(change.name, \.idleTimeout, seconds)
        case .pollingInterval(let seconds): overwrite(change.name, \.pollingInterval, seconds)
        case .currentConnectTimeout(let seconds): overwrite(change.name, \.currentConnectTimeout, seconds)
        }
    }

    private mutating func overwrite(
        _ name: String,
        _ path: WritableKeyPath<ConnectionOptionValues, Double>,
        _ seconds: Double
    ) {
        // A newer value of the user is on its way to the machine and will win there as well.
        if pendingOptions[name] == nil { options[keyPath: path] = seconds }
    }
}

extension PropertyChange {
    /// Today's name of the property.
    var name: String {
        switch self {
        case .sessionId: "sessionId"
        case .serverInstanceAddress: "serverInstanceAddress"
        case .serverSocketName: "serverSocketName"
        case .clientIp: "clientIp"
        case .realMaxBandwidth: "realMaxBandwidth"
        case .keepaliveInterval: "keepaliveInterval"
        case .idleTimeout: "idleTimeout"
        case .pollingInterval: "pollingInterval"
        case .currentConnectTimeout: "currentConnectTimeout"
        }
    }
}
