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
    var options: ClientOptions
    var delegates: [any ClientDelegate] = []
    /// The active subscriptions; tokens ascend in the order of subscription.
    var subscriptions: [SubscriptionToken: Subscription] = [:]
    var messages = PendingMessages()
    var legacyListeners: [any LegacyConnectionListener] = []
    var isShutDown = false
    /// The calls made during the shutdown that wait for the last event; nil after the last event.
    var lastCalls: [LastCall]? = []
    var counters = ClientCounters()
    var attempt = LastAttempt()

    init(options: ConnectionOptionValues) { self.options = ClientOptions(options) }

    /// Whether there is a session that is connected, and no call that ends it waits.
    var isConnected: Bool { status.isConnected && pendingDisconnects == 0 }

    /// The server address that the present or last session, or the last attempt to create one, was requested from.
    var attemptAddress: String? { attempt.address ?? details.serverAddress }

    /// Applies a change made by the server or by the library.
    mutating func take(_ change: PropertyChange) {
        if case .sessionId(.some) = change { counters.sessions &+= 1 }
        session.apply(change)
        options.take(change)
    }
}

/// The options of a client as its getters show them.
struct ClientOptions {
    /// The values in force.
    private(set) var values: ConnectionOptionValues
    /// The values as the user has set them.
    private(set) var requested: ConnectionOptionValues
    /// By option name, the number of changes by the user that have not reached the driver.
    private var pending: [String: Int] = [:]

    init(_ values: ConnectionOptionValues) { (self.values, requested) = (values, values) }

    /// The user has changed options. They are copied one by one: another thread may have set other options meanwhile.
    mutating func set(_ changed: [ConnectionOption], from new: ConnectionOptionValues) {
        for option in changed {
            option.copy(from: new, to: &values)
            pending[option.name, default: 0] += 1
        }
    }

    /// The user has asked for other values, which may be in force already.
    mutating func request(_ changed: [ConnectionOption], from new: ConnectionOptionValues) {
        for option in changed { option.copy(from: new, to: &requested) }
    }

    /// A change by the user has reached the driver.
    mutating func reachedDriver(_ option: ConnectionOption) {
        let left = (pending[option.name] ?? 1) - 1
        pending[option.name] = left > 0 ? left : nil
    }

    /// Applies a change made by the server or by the library, unless a newer value of the user is queued for the machine, and
    /// will replace the change there as well.
    mutating func take(_ change: PropertyChange) { if pending[change.name] == nil { values.take(change) } }
}

/// The messages that the machine has not received or whose outcome is outstanding.
struct PendingMessages {
    private var count = 0
    /// The length of the texts in UTF-8.
    private var bytes = 0

    /// Adds a message. Returns false if the limits of the configuration are reached.
    mutating func add(_ text: String, within limits: ClientConfiguration) -> Bool {
        guard count < limits.maxPendingMessages, text.utf8.count <= limits.maxPendingMessageBytes - bytes else {
            return false
        }
        count += 1
        bytes += text.utf8.count
        return true
    }

    /// Removes a finished message.
    mutating func remove(_ text: String) {
        count -= 1
        bytes -= text.utf8.count
    }
}

/// The last attempt to connect, and how it failed.
struct LastAttempt {
    /// The server address of the last attempt to create a session; nil: there was none.
    private(set) var address: String?
    /// The control link of the server, if the last connection went there; nil: the last connection went to `attemptAddress`.
    private(set) var controlLink: String?
    /// The failure of the last connection; a timeout while no other end of it is known.
    private(set) var failure: FailureKind?
    /// The HTTP status of the last failure; nil: the failure has none.
    private(set) var httpStatus: Int?
    /// The error of the server, if the last failure was one; nil: another failure, or a call has disconnected the client.
    private(set) var refusal: UpstreamRefusal?
    /// The pause between the last failure before the present status and the attempt after it; nil: there was none.
    var pause: Duration?

    /// A connection to an address begins. `setting`: the server address of the details.
    mutating func began(at address: String, createsSession: Bool, setting: String?) {
        if createsSession { self.address = address }
        controlLink = address == (self.address ?? setting) ? nil : address
    }

    mutating func ended(_ end: TransportEnd) {
        switch end {
        case .completed: failed(.closed)
        case .failed(_, let kind, let status), .refused(_, let kind, let status), .unreachable(_, let kind, let status):
            failed(kind, httpStatus: status)
        case .identityRejected: failed(.certificatePin)
        }
    }

    mutating func failed(_ kind: FailureKind, httpStatus: Int? = nil, refusal: UpstreamRefusal? = nil) {
        (failure, self.httpStatus, self.refusal) = (kind, httpStatus, refusal)
    }

    /// No further attempt follows, because of an error of the server; nil: because of a call.
    mutating func closed(by refusal: UpstreamRefusal?) { self.refusal = refusal }
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
