internal import SessionCore

/// Derives the events of the older class reference from those of a client, for one listener.
final class LegacyAdapter: ClientObserver {
    private let listener: any LegacyConnectionListener
    private var hasStarted = false
    private var isWarning = false

    init(listener: any LegacyConnectionListener) { self.listener = listener }

    /// Whether this is the adapter of that listener.
    func serves(_ other: any LegacyConnectionListener) -> Bool { listener === other }

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
        case .serverFailed(let code, let message):
            listener.clientConnection(client, didReceiveServerFailure: code, message: message)
        case .badData(let reason): listener.clientConnection(client, didReceiveDataError: reason)
        case .closed: listener.clientConnectionDidClose(client)
        case .deviceRegistered(let deviceID, nil, _):
            listener.clientConnection(client, didSucceedChangingDeviceTokenWithDeviceID: deviceID)
        case .deviceRegistered(_, let code?, let message):
            listener.clientConnection(client, didFailChangingDeviceTokenWithCode: code, message: message)
        case .badgeReset(_, nil, _): listener.clientConnectionDidSucceedResettingBadge(client)
        case .badgeReset(_, let code?, let message):
            listener.clientConnection(client, didFailResettingBadgeWithCode: code, message: message)
        }
    }
}
