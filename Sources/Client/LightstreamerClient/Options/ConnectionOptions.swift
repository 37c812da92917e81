public import SessionCore

/// The connection options of one client. Times are seconds.
///
/// Getters return the value in force: `keepaliveInterval`, `idleTimeout`, `pollingInterval` and `currentConnectTimeout`
/// may be overwritten by the server or the library; `requested` keeps what the user set. A setter takes effect as the
/// class reference defines for its property, notifies `didChangeProperty` if the value is another one, and throws
/// `ClientError` with `invalidValue` for a value that the reference refuses.
public final class ConnectionOptions: Sendable, CustomStringConvertible {
    private let core: ClientCore

    init(core: ClientCore) { self.core = core }

    /// All options as they are in force now.
    public var values: ConnectionOptionValues { core.state.withLock { $0.options.values } }

    /// All options as last set by the user.
    public var requested: ConnectionOptionValues { core.state.withLock { $0.options.requested } }

    /// The bandwidth limit in force; nil without a session, or before the server has sent it.
    public var realMaxBandwidth: RealMaxBandwidth? { core.state.withLock { $0.session.realMaxBandwidth } }

    /// Changes any number of options at once: all, or none if one value is refused. The closure is called twice, on
    /// the values in force and on the requested ones, and must do the same to both.
    public func update(_ change: (inout ConnectionOptionValues) -> Void) throws(ClientError) {
        try core.updateOptions(change)
    }

    /// The options that differ from the defaults of the newer class reference; header values are left out.
    public var description: String {
        let values = values
        let defaults = ConnectionOptionValues()
        let changed = ConnectionOption.all.filter { $0.differs(values, defaults) }.map(\.name)
        return "ConnectionOptions(\(changed.isEmpty ? "defaults" : "changed: " + changed.joined(separator: ", ")))"
    }
}

extension ConnectionOptions {
    /// How long the response to a request may take.
    public var connectTimeout: ConnectTimeout { values.connectTimeout }
    /// Sets `connectTimeout`; a fixed time must be greater than 0.
    public func setConnectTimeout(_ timeout: ConnectTimeout) throws(ClientError) {
        try update { $0.connectTimeout = timeout }
    }

    /// The response timeout in use while `connectTimeout` is `auto`.
    public var currentConnectTimeout: Double { values.currentConnectTimeout }
    /// Sets `currentConnectTimeout`, greater than 0.
    public func setCurrentConnectTimeout(_ seconds: Double) throws(ClientError) {
        try update { $0.currentConnectTimeout = seconds }
    }

    /// The size in bytes at which an HTTP streaming response is ended and replaced.
    public var contentLength: UInt64 { values.contentLength }
    /// Sets `contentLength`, greater than 0.
    public func setContentLength(_ bytes: UInt64) throws(ClientError) { try update { $0.contentLength = bytes } }

    /// The longest random pause before the first reconnection after a working connection broke.
    public var firstRetryMaxDelay: Double { values.firstRetryMaxDelay }
    /// Sets `firstRetryMaxDelay`, greater than 0.
    public func setFirstRetryMaxDelay(_ seconds: Double) throws(ClientError) {
        try update { $0.firstRetryMaxDelay = seconds }
    }

    /// The transports that the client is restricted to; nil: Stream-Sense chooses.
    public var forcedTransport: ForcedTransport? { values.forcedTransport }
    /// Sets `forcedTransport`; during a session the transport is switched.
    public func setForcedTransport(_ transport: ForcedTransport?) throws(ClientError) {
        try update { $0.forcedTransport = transport }
    }

    /// Headers added to requests; nil: none.
    public var httpExtraHeaders: [String: String]? { values.httpExtraHeaders }
    /// Sets `httpExtraHeaders`; headers that the library itself sets, such as `Content-Type` and `Cookie`, are refused.
    public func setHTTPExtraHeaders(_ headers: [String: String]?) throws(ClientError) {
        try update { $0.httpExtraHeaders = headers }
    }

    /// Whether the extra headers are sent with session creation requests only.
    public var httpExtraHeadersOnSessionCreationOnly: Bool { values.httpExtraHeadersOnSessionCreationOnly }
    /// Sets `httpExtraHeadersOnSessionCreationOnly`.
    public func setHTTPExtraHeadersOnSessionCreationOnly(_ isOnly: Bool) throws(ClientError) {
        try update { $0.httpExtraHeadersOnSessionCreationOnly = isOnly }
    }

    /// How long the server may hold a poll without data.
    public var idleTimeout: Double { values.idleTimeout }
    /// Sets `idleTimeout`, 0 or greater.
    public func setIdleTimeout(_ seconds: Double) throws(ClientError) { try update { $0.idleTimeout = seconds } }

    /// The longest silence of a streaming connection; 0: the server decides.
    public var keepaliveInterval: Double { values.keepaliveInterval }
    /// Sets `keepaliveInterval`, 0 or greater.
    public func setKeepaliveInterval(_ seconds: Double) throws(ClientError) {
        try update { $0.keepaliveInterval = seconds }
    }

    /// The time from the start of one poll to the start of the next.
    public var pollingInterval: Double { values.pollingInterval }
    /// Sets `pollingInterval`, 0 or greater.
    public func setPollingInterval(_ seconds: Double) throws(ClientError) {
        try update { $0.pollingInterval = seconds }
    }

    /// The bandwidth limit requested from the server.
    public var requestedMaxBandwidth: RequestedMaxBandwidth { values.requestedMaxBandwidth }
    /// Sets `requestedMaxBandwidth`; a limit must be greater than 0. An open session requests it at once.
    public func setRequestedMaxBandwidth(_ bandwidth: RequestedMaxBandwidth) throws(ClientError) {
        try update { $0.requestedMaxBandwidth = bandwidth }
    }

    /// The time after which a stalled connection is given up.
    public var reconnectTimeout: Double { values.reconnectTimeout }
    /// Sets `reconnectTimeout`, greater than 0.
    public func setReconnectTimeout(_ seconds: Double) throws(ClientError) {
        try update { $0.reconnectTimeout = seconds }
    }

    /// The shortest time between two attempts to connect.
    public var retryDelay: Double { values.retryDelay }
    /// Sets `retryDelay`, greater than 0.
    public func setRetryDelay(_ seconds: Double) throws(ClientError) { try update { $0.retryDelay = seconds } }

    /// The longest time between two requests, after which a heartbeat is sent; 0: no heartbeats.
    public var reverseHeartbeatInterval: Double { values.reverseHeartbeatInterval }
    /// Sets `reverseHeartbeatInterval`, 0 or greater.
    public func setReverseHeartbeatInterval(_ seconds: Double) throws(ClientError) {
        try update { $0.reverseHeartbeatInterval = seconds }
    }

    /// How long the client tries to recover an interrupted session; 0: it does not.
    public var sessionRecoveryTimeout: Double { values.sessionRecoveryTimeout }
    /// Sets `sessionRecoveryTimeout`, 0 or greater.
    public func setSessionRecoveryTimeout(_ seconds: Double) throws(ClientError) {
        try update { $0.sessionRecoveryTimeout = seconds }
    }

    /// The silence beyond the keepalive interval after which a streaming connection is stalled.
    public var stalledTimeout: Double { values.stalledTimeout }
    /// Sets `stalledTimeout`, greater than 0.
    public func setStalledTimeout(_ seconds: Double) throws(ClientError) { try update { $0.stalledTimeout = seconds } }

    /// Whether sessions are created on a WebSocket; false: over HTTP, with the WebSocket opened for the first bind.
    public var isEarlyWSOpenEnabled: Bool { values.earlyWSOpenEnabled }
    /// Sets `earlyWSOpenEnabled`.
    public func setEarlyWSOpenEnabled(_ isEnabled: Bool) throws(ClientError) {
        try update { $0.earlyWSOpenEnabled = isEnabled }
    }

    /// Whether the control link that a server sends is ignored.
    public var isServerInstanceAddressIgnored: Bool { values.serverInstanceAddressIgnored }
    /// Sets `serverInstanceAddressIgnored`.
    public func setServerInstanceAddressIgnored(_ isIgnored: Bool) throws(ClientError) {
        try update { $0.serverInstanceAddressIgnored = isIgnored }
    }

    /// Whether the client falls back to polling when it cannot keep up with the stream.
    public var isSlowingEnabled: Bool { values.slowingEnabled }
    /// Sets `slowingEnabled`.
    public func setSlowingEnabled(_ isEnabled: Bool) throws(ClientError) {
        try update { $0.slowingEnabled = isEnabled }
    }
}
