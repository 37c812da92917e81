internal import JSONText
internal import Primitives

/// How long the response to a request may take (class reference: `connectTimeout`).
public enum ConnectTimeout: Sendable, Hashable {
    /// The timeout is `currentConnectTimeout`, which the library may change.
    case auto
    /// This many seconds, greater than 0.
    case seconds(Double)
}

extension ConnectTimeout: NumberOrWord {
    package static let words: [String: Self] = ["auto": .auto]
    package static func limited(_ number: Double) -> Self { .seconds(number) }
    package var number: Double? { if case .seconds(let seconds) = self { seconds } else { nil } }
}

/// All connection options as one value. Times are seconds; the defaults are those of the newer class reference.
public struct ConnectionOptionValues: Sendable, Equatable {
    /// `connectTimeout`.
    public var connectTimeout: ConnectTimeout = .auto
    /// `currentConnectTimeout` in seconds; matters only with `connectTimeout` `auto`.
    public var currentConnectTimeout: Double = 4
    /// `contentLength` in bytes: the size of an HTTP streaming response before the server ends it with `LOOP`.
    public var contentLength: UInt64 = 50_000_000
    /// `firstRetryMaxDelay` in seconds.
    public var firstRetryMaxDelay: Double = 0.1
    /// `forcedTransport`; nil: Stream-Sense chooses.
    public var forcedTransport: ForcedTransport?
    /// `httpExtraHeaders`; nil: none.
    public var httpExtraHeaders: [String: String]?
    /// `httpExtraHeadersOnSessionCreationOnly`.
    public var httpExtraHeadersOnSessionCreationOnly = false
    /// `idleTimeout` in seconds.
    public var idleTimeout: Double = 19
    /// `keepaliveInterval` in seconds; 0: the server decides.
    public var keepaliveInterval: Double = 0
    /// `pollingInterval` in seconds.
    public var pollingInterval: Double = 0
    /// `requestedMaxBandwidth`.
    public var requestedMaxBandwidth: RequestedMaxBandwidth = .unlimited
    /// `reconnectTimeout` in seconds.
    public var reconnectTimeout: Double = 3
    /// `retryDelay` in seconds.
    public var retryDelay: Double = 2
    /// `reverseHeartbeatInterval` in seconds; 0: off.
    public var reverseHeartbeatInterval: Double = 0
    /// `sessionRecoveryTimeout` in seconds; 0: never recover.
    public var sessionRecoveryTimeout: Double = 15
    /// `stalledTimeout` in seconds.
    public var stalledTimeout: Double = 2
    /// `earlyWSOpenEnabled`: create the session on the WebSocket itself; false: create over HTTP, bind later.
    public var earlyWSOpenEnabled = true
    /// `serverInstanceAddressIgnored`: ignore the control link.
    public var serverInstanceAddressIgnored = false
    /// `slowingEnabled`: fall back to polling when the client reads too slowly.
    public var slowingEnabled = true

    /// The defaults of the newer class reference.
    public init() {}

    /// The defaults of the older class reference: `retryDelay` 5 s and no session recovery.
    public static var olderEdition: ConnectionOptionValues {
        var values = ConnectionOptionValues()
        values.retryDelay = 5
        values.sessionRecoveryTimeout = 0
        return values
    }

    /// Whether the extra headers are equal, their values byte by byte.
    package func hasSameHeaders(as other: ConnectionOptionValues) -> Bool {
        guard let headers = httpExtraHeaders, let others = other.httpExtraHeaders else {
            return httpExtraHeaders == nil && other.httpExtraHeaders == nil
        }
        return headers.count == others.count && headers.allSatisfy { others[$0.key].hasSameBytes(as: $0.value) }
    }

    /// Applies a change made by the server or by the library.
    package mutating func take(_ change: PropertyChange) {
        switch change {
        case .keepaliveInterval(let seconds): keepaliveInterval = seconds
        case .idleTimeout(let seconds): idleTimeout = seconds
        case .pollingInterval(let seconds): pollingInterval = seconds
        case .currentConnectTimeout(let seconds): currentConnectTimeout = seconds
        case .sessionId, .serverInstanceAddress, .serverSocketName, .clientIp, .realMaxBandwidth: break
        }
    }
}

/// The connection details that a session is created with.
public struct ConnectionDetailValues: Sendable, Equatable {
    /// `serverAddress`: an http or https URL without a query; nil: none.
    public var serverAddress: String?
    /// `adapterSet`; nil: the server's `DEFAULT`.
    public var adapterSet: String?
    /// `user`; nil: none is sent.
    public var user: String?
    /// `password`; nil: none sent. Never logged, never shown.
    public var password: String?

    /// Details with nothing set.
    public init() {}

    /// Whether all details are equal, byte by byte.
    public static func == (left: ConnectionDetailValues, right: ConnectionDetailValues) -> Bool {
        left.serverAddress.hasSameBytes(as: right.serverAddress) && left.adapterSet.hasSameBytes(as: right.adapterSet)
            && left.user.hasSameBytes(as: right.user) && left.password.hasSameBytes(as: right.password)
    }
}
