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
