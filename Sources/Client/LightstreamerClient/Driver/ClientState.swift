internal import SessionCore
internal import TLCP

/// A call in the order of events; without the delivery after the last event.
typealias LastCall = @Sendable (EventDelivery?) -> Void

/// The state that the getters of a client read. Setters and the driver write it, always before the event.
struct ClientState {
    /// The client; nil once it is released.
    weak var client: LightstreamerClient?
    var status = ClientStatus.disconnected
    /// The number of `disconnect()` calls that have not reached the driver and are not yet visible in the status.
    var pendingDisconnects = 0
    var session = ServerProperties()
    var details = ConnectionDetailValues()
    var certificatePins: [String] = []
    var options: ConnectionOptionValues
    var requestedOptions: ConnectionOptionValues
    /// By option name, the number of changes by the user that have not reached the driver; meanwhile values from the
    /// server must not overwrite them.
    var pendingOptions: [String: Int] = [:]
    var delegates: [any ClientDelegate] = []
    /// The active subscriptions; tokens ascend in the order of subscription.
    var subscriptions: [SubscriptionToken: Subscription] = [:]
    /// The number of messages that the machine has not received or whose outcome is outstanding.
    var pendingMessages = 0
    /// The length of these messages in UTF-8.
    var pendingMessageBytes = 0
    var legacyListeners: [any LegacyConnectionListener] = []
    var isShutDown = false
    /// The calls made during the shutdown that wait for the last event; nil after the last event.
    var lastCalls: [LastCall]? = []
    var counters = ClientCounters()
    /// The failure of the last connection; a timeout while no other end of it is known.
    var lastFailure: FailureKind?
    /// The HTTP status of the last failure; nil: the failure has none.
    var lastHTTPStatus: Int?
    /// The error of the server, if the last failure was one; nil: another failure, or a call has disconnected the client.
    var lastRefusal: UpstreamRefusal?
    /// The server address of the last attempt to create a session; nil: there was none.
    var attemptAddress: String?
    /// The control link of the server, if the last connection went there; nil: the last connection went to `attemptAddress`.
    var controlLink: String?
    /// The pause between the last failure before the present status and the attempt after it; nil: there was none.
    var attemptPause: Duration?

    init(options: ConnectionOptionValues) {
        self.options = options
        requestedOptions = options
    }

    /// Whether there is a session that is connected, and no call that ends it waits.
    var isConnected: Bool { status.isConnected && pendingDisconnects == 0 }

    mutating func noteEnd(_ end: TransportEnd) {
        switch end {
        case .completed: noteFailure(.closed)
        case .failed(_, let kind, let status), .refused(_, let kind, let status), .unreachable(_, let kind, let status):
            noteFailure(kind, httpStatus: status)
        case .identityRejected: noteFailure(.certificatePin)
        }
    }

    mutating func noteFailure(_ kind: FailureKind, httpStatus: Int? = nil, refusal: UpstreamRefusal? = nil) {
        (lastFailure, lastHTTPStatus, lastRefusal) = (kind, httpStatus, refusal)
    }

    /// Applies a change made by the server or by the library.
    mutating func take(_ change: PropertyChange) {
        if case .sessionId(.some) = change { counters.sessions &+= 1 }
        session.apply(change)
        // A newer value of the user is queued for the machine and will replace this one there as well.
        if pendingOptions[change.name] == nil { options.take(change) }
    }
}

extension PropertyChange {
    /// The name of the property in the newest edition.
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
