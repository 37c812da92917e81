internal import SessionCore

/// What the getters of a client read. Written by setters and by the driver, always before the event that tells of it.
struct ClientState {
    /// What the server told of the session; all nil without one.
    struct Session {
        var sessionId: String?
        var serverInstanceAddress: String?
        var serverSocketName: String?
        var clientIp: String?
        var realMaxBandwidth: RealMaxBandwidth?
    }

    /// The client; nil once it is released.
    weak var client: LightstreamerClient?
    var status = ClientStatus.disconnected
    /// Calls of `disconnect()` that have not reached the driver: the status does not show them yet.
    var pendingDisconnects = 0
    var session = Session()
    var details = ConnectionDetailValues()
    var certificatePins: [String] = []
    var options: ConnectionOptionValues
    var requestedOptions: ConnectionOptionValues
    /// By option name, how many changes by the user have not reached the driver: meanwhile the server's values must
    /// not overwrite the newer ones.
    var pendingOptions: [String: Int] = [:]
    var delegates: [any ClientDelegate] = []
    /// In order of subscription.
    var subscriptions: [Subscription] = []
    /// Messages not handed to the machine yet, or whose outcome is awaited.
    var pendingMessages = 0
    var legacyListeners: [any LegacyConnectionListener] = []
    var nextToken: UInt64 = 1
    var isShutDown = false
    var counters = ClientCounters()

    init(options: ConnectionOptionValues) {
        self.options = options
        requestedOptions = options
    }

    /// A number that was not given before.
    mutating func makeToken() -> UInt64 {
        defer { nextToken &+= 1 }
        return nextToken
    }
}

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
