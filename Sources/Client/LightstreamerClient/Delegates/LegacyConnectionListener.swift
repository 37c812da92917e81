public import SessionCore
internal import TLCP
public import TLCPTransports

/// Receives the events of the older class reference (`LSConnectionDelegate`). Every method has an empty default. All
/// are called on the client's task, in the order of its other events, except `isAboutToSend`, which is called on a
/// network thread and must return quickly.
public protocol LegacyConnectionListener: AnyObject, Sendable {
    /// A connection was established: at creation, and at every later bind, poll or recovery of the session.
    func clientConnectionDidEstablish(_ client: LightstreamerClient)
    /// A session started; once per session, when its transport is known.
    func clientConnection(_ client: LightstreamerClient, didStartSessionWithPolling isPolling: Bool)
    /// Bytes were received, counted before decoding.
    func clientConnection(_ client: LightstreamerClient, didReceiveNewBytes count: Int)
    /// The connection became stalled, or is no longer stalled.
    func clientConnection(_ client: LightstreamerClient, didChangeActivityWarningStatus isWarning: Bool)
    /// The connection was closed by the application.
    func clientConnectionDidClose(_ client: LightstreamerClient)
    /// The server ended the session with this cause; no reconnection follows.
    func clientConnection(_ client: LightstreamerClient, didEndWithCause cause: Int)
    /// A connection failed; the client reconnects by itself.
    func clientConnection(_ client: LightstreamerClient, didReceiveConnectionFailure reason: String)
    /// The server signalled an error. `willRetry`: the client reconnects by itself; after other errors it is
    /// disconnected.
    func clientConnection(
        _ client: LightstreamerClient,
        didReceiveServerFailure code: Int,
        message: String,
        willRetry: Bool
    )
    /// Invalid data were received; the session is closed.
    func clientConnection(_ client: LightstreamerClient, didReceiveDataError reason: String)
    /// The server has the new device token. The protocol names no number of reactivated subscriptions.
    func clientConnection(_ client: LightstreamerClient, didSucceedChangingDeviceTokenWithInfo info: DeviceTokenInfo)
    /// The device token could not be changed. Code 45, device unknown, need not be an error.
    func clientConnection(_ client: LightstreamerClient, didFailChangingDeviceTokenWithCode code: Int, message: String?)
    /// The server has reset the badge counter.
    func clientConnectionDidSucceedResettingBadge(_ client: LightstreamerClient)
    /// The badge counter could not be reset.
    func clientConnection(_ client: LightstreamerClient, didFailResettingBadgeWithCode code: Int, message: String?)
    /// A request, or the handshake of a WebSocket, is about to be sent, extra headers and cookies included.
    func clientConnection(_ client: LightstreamerClient, isAboutToSend request: inout OutgoingRequest)
}

extension LegacyConnectionListener {
    /// Does nothing.
    public func clientConnectionDidEstablish(_ client: LightstreamerClient) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didStartSessionWithPolling isPolling: Bool) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didReceiveNewBytes count: Int) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didChangeActivityWarningStatus isWarning: Bool) {}
    /// Does nothing.
    public func clientConnectionDidClose(_ client: LightstreamerClient) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didEndWithCause cause: Int) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didReceiveConnectionFailure reason: String) {}
    /// Does nothing.
    public func clientConnection(
        _ client: LightstreamerClient,
        didReceiveServerFailure code: Int,
        message: String,
        willRetry: Bool
    ) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, didReceiveDataError reason: String) {}
    /// Does nothing.
    public func clientConnection(
        _ client: LightstreamerClient,
        didSucceedChangingDeviceTokenWithInfo info: DeviceTokenInfo
    ) {}
    /// Does nothing.
    public func clientConnection(
        _ client: LightstreamerClient,
        didFailChangingDeviceTokenWithCode code: Int,
        message: String?
    ) {}
    /// Does nothing.
    public func clientConnectionDidSucceedResettingBadge(_ client: LightstreamerClient) {}
    /// Does nothing.
    public func clientConnection(
        _ client: LightstreamerClient,
        didFailResettingBadgeWithCode code: Int,
        message: String?
    ) {}
    /// Does nothing.
    public func clientConnection(_ client: LightstreamerClient, isAboutToSend request: inout OutgoingRequest) {}
}

/// A legacy listener that also answers authentication challenges; called if no client delegate does.
public protocol LegacyAuthenticationListener: LegacyConnectionListener {
    /// As `AuthenticationDelegate`.
    func clientConnection(_ client: LightstreamerClient, willSendRequestFor challenge: AuthenticationChallenge)
}

/// Derives the events of the older class reference from those of a client, for one listener.
final class LegacyAdapter: ClientObserver {
    let listener: any LegacyConnectionListener
    private var hasStarted: Bool
    private var isWarning: Bool

    /// An adapter for a listener that was added in this status: the start of a session that it finds is not reported.
    init(listener: any LegacyConnectionListener, status: ClientStatus) {
        self.listener = listener
        isWarning = status == .stalled
        switch status {
        case .disconnected, .disconnectedWillRetry, .connecting, .connectedStreamSensing: hasStarted = false
        case .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling, .connectedHTTPPolling, .stalled,
            .disconnectedTryingRecovery:
            hasStarted = true
        }
    }

    func client(_ client: LightstreamerClient, emitted event: ClientEvent) {
        switch event {
        case .status(let status): statusChanged(status, client)
        case .property("sessionId"): hasStarted = false
        case .legacy(let event): take(event, client)
        case .bytesReceived(let count): listener.clientConnection(client, didReceiveNewBytes: count)
        case .serverError, .property, .subscription, .message: break
        }
    }

    private func statusChanged(_ status: ClientStatus, _ client: LightstreamerClient) {
        let isStalled = status == .stalled
        if isStalled != isWarning {
            isWarning = isStalled
            listener.clientConnection(client, didChangeActivityWarningStatus: isStalled)
        }
        guard !hasStarted else { return }
        switch status {
        case .connectedWSStreaming, .connectedHTTPStreaming: start(client, isPolling: false)
        case .connectedWSPolling, .connectedHTTPPolling: start(client, isPolling: true)
        default: break
        }
    }

    private func start(_ client: LightstreamerClient, isPolling: Bool) {
        hasStarted = true
        listener.clientConnection(client, didStartSessionWithPolling: isPolling)
    }

    private func take(_ event: LegacyEvent, _ client: LightstreamerClient) {
        switch event {
        case .connectionEstablished: listener.clientConnectionDidEstablish(client)
        case .ended(let cause): listener.clientConnection(client, didEndWithCause: cause)
        case .connectionFailed(let reason): listener.clientConnection(client, didReceiveConnectionFailure: reason)
        case .serverFailed(let code, let message, let isRetried):
            listener.clientConnection(client, didReceiveServerFailure: code, message: message, willRetry: isRetried)
        case .badData(let reason): listener.clientConnection(client, didReceiveDataError: reason)
        case .closed: listener.clientConnectionDidClose(client)
        case .deviceRegistered(let info):
            listener.clientConnection(client, didSucceedChangingDeviceTokenWithInfo: info)
        case .deviceRefused(let code, let message):
            listener.clientConnection(client, didFailChangingDeviceTokenWithCode: code, message: message)
        case .badgeReset(_, nil, _): listener.clientConnectionDidSucceedResettingBadge(client)
        case .badgeReset(_, let code?, let message):
            listener.clientConnection(client, didFailResettingBadgeWithCode: code, message: message)
        }
    }
}

extension LightstreamerClient {
    /// Adds a legacy listener; a duplicate is ignored. It is held strongly.
    public func addLegacyListener(_ listener: any LegacyConnectionListener) {
        guard core.state.withLock({ $0.legacyListeners.appendObject(listener) }) else { return }
        core.perform { [core] delivery in
            delivery.add(LegacyAdapter(listener: listener, status: core.state.withLock { $0.status }))
        }
    }

    /// Removes a legacy listener.
    public func removeLegacyListener(_ listener: any LegacyConnectionListener) {
        core.state.withLock { $0.legacyListeners.removeAll { $0 === listener } }
        core.perform { delivery in delivery.remove { ($0 as? LegacyAdapter)?.listener === listener } }
    }

    /// Registers this application's device token for push notifications with the server, now and in later sessions.
    /// `previousToken` is the token that it replaces; nil: a first registration. The outcome goes to legacy listeners.
    public func registerDeviceToken(
        _ token: String,
        platform: String = "Apple",
        applicationID: String,
        previousToken: String? = nil
    ) {
        core.send(
            .deviceTokenChanged(
                MPNRegisterRequest(
                    platform: platform,
                    appID: applicationID,
                    deviceToken: previousToken ?? token,
                    newDeviceToken: previousToken == nil ? nil : token
                )
            )
        )
    }

    /// Asks the server to reset the badge counter of the registered device. The outcome goes to legacy listeners.
    public func resetBadge() { core.send(.badgeReset) }
}
