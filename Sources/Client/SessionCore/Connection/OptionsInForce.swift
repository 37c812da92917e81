internal import TLCP

/// The connection options of the user, with the values that replaced some of them.
///
/// A value granted by the server replaces an option that the user has not set since the request was written. With
/// `connectTimeout` `auto`, `currentConnectTimeout` shows the response timeout in force.
struct OptionsInForce {
    /// An option that the server grants.
    enum Granted: CaseIterable {
        case keepaliveInterval, idleTimeout, pollingInterval

        fileprivate var path: WritableKeyPath<ConnectionOptionValues, Double> {
            switch self {
            case .keepaliveInterval: \.keepaliveInterval
            case .idleTimeout: \.idleTimeout
            case .pollingInterval: \.pollingInterval
            }
        }

        fileprivate func change(to seconds: Double) -> PropertyChange {
            switch self {
            case .keepaliveInterval: .keepaliveInterval(seconds)
            case .idleTimeout: .idleTimeout(seconds)
            case .pollingInterval: .pollingInterval(seconds)
            }
        }
    }

    /// Shorter delays count as this one, and a call ends no pause before: a client that cannot connect would use a whole processor
    /// and flood its server.
    static let leastRetryDelay = Duration.milliseconds(100)
    /// The longest time that a server can grant, unless the user asks for a longer time: a client that waited for years would
    /// never notice a dead connection, nor a session that the server has forgotten.
    private static let longestGrant = Duration.seconds(3600)

    private(set) var values: ConnectionOptionValues
    private var responseTimeout: ResponseTimeout
    /// Set by the user since the last request was written.
    private var changed: Set<Granted> = []
    /// The `pollingInterval` that the user set last, in seconds.
    private var ownPollingInterval: Double

    /// The options of a client without connection.
    init(_ values: ConnectionOptionValues) {
        self.values = values
        responseTimeout = ResponseTimeout(base: Duration(optionSeconds: values.currentConnectTimeout))
        ownPollingInterval = values.pollingInterval
    }

    /// The user set options. Returns those before.
    mutating func set(_ new: ConnectionOptionValues) -> ConnectionOptionValues {
        let old = values
        values = new
        if old.currentConnectTimeout != new.currentConnectTimeout {
            responseTimeout.rebase(to: Duration(optionSeconds: new.currentConnectTimeout))
        }
        for option in Granted.allCases where old[keyPath: option.path] != new[keyPath: option.path] {
            changed.insert(option)
        }
        if old.pollingInterval != new.pollingInterval { ownPollingInterval = new.pollingInterval }
        return old
    }

    var retryDelay: Duration { max(Self.leastRetryDelay, Duration(optionSeconds: values.retryDelay)) }

    /// `reverseHeartbeatInterval`; zero: off.
    var reverseHeartbeat: Duration { ReverseHeartbeat.interval(optionSeconds: values.reverseHeartbeatInterval) }

    // MARK: - Requests and grants

    /// The parameters of a streaming request that is being written.
    mutating func streaming() -> ConnectionParameters.Kind {
        changed.removeAll()
        let keepalive = Duration(optionSeconds: values.keepaliveInterval).wholeMilliseconds
        return .streaming(
            keepaliveMillis: keepalive > 0 ? keepalive : nil,
            inactivityMillis: reverseHeartbeat > .zero ? reverseHeartbeat.wholeMilliseconds : nil,
            sendsSync: values.slowingEnabled
        )
    }

    /// The parameters of a poll that is being written.
    mutating func polling() -> ConnectionParameters.Kind {
        changed.removeAll()
        return .polling(
            intervalMillis: Duration(optionSeconds: values.pollingInterval).wholeMilliseconds,
            idleMillis: Duration(optionSeconds: values.idleTimeout).wholeMilliseconds
        )
    }

    /// The time that a grant counts as.
    func limited(_ option: Granted, _ time: Duration) -> Duration {
        min(time, max(Self.longestGrant, Duration(optionSeconds: values[keyPath: option.path])))
    }

    /// The server granted a value. Returns the change of the option; nil: none.
    mutating func granted(_ option: Granted, _ time: Duration) -> PropertyChange? {
        let seconds = limited(option, time).optionSeconds
        guard !changed.contains(option), values[keyPath: option.path] != seconds else { return nil }
        values[keyPath: option.path] = seconds
        return option.change(to: seconds)
    }

    /// The interval between polls: the one granted, unless the user has set another one.
    func pollingInterval(granted: Duration) -> Duration {
        changed.contains(.pollingInterval)
            ? Duration(optionSeconds: values.pollingInterval) : limited(.pollingInterval, granted)
    }

    /// Whether the user wants polls at this interval at least. Compared in milliseconds, the unit of requests and of `LOOP`.
    func isOwn(pollingInterval: Duration) -> Bool {
        let own = Duration(optionSeconds: ownPollingInterval).wholeMilliseconds
        return own > 0 && pollingInterval.wholeMilliseconds >= own
    }

    // MARK: - The response timeout

    /// How long a response may take now.
    var responseTime: Duration { responseTimeout.value(for: values.connectTimeout) }

    /// A creation or recovery request stayed unanswered. Returns the change of `currentConnectTimeout`; nil: none.
    mutating func requestUnanswered() -> PropertyChange? {
        if values.connectTimeout == .auto { responseTimeout.expired() }
        return timeoutChange()
    }

    /// The server is overloaded. Returns the change of `currentConnectTimeout`; nil: none.
    mutating func serverOverloaded() -> PropertyChange? {
        if values.connectTimeout == .auto { responseTimeout.serverOverloaded() }
        return timeoutChange()
    }

    /// The session is bound, or there is none. Returns the change of `currentConnectTimeout`; nil: none.
    mutating func resetResponseTime() -> PropertyChange? {
        if values.connectTimeout == .auto { responseTimeout.reset() }
        return timeoutChange()
    }

    private mutating func timeoutChange() -> PropertyChange? {
        let seconds = responseTimeout.current.optionSeconds
        guard values.connectTimeout == .auto, values.currentConnectTimeout != seconds else { return nil }
        values.currentConnectTimeout = seconds
        return .currentConnectTimeout(seconds)
    }
}
