/// Identifies one `sendMessage` call within the machines; never on the wire.
public struct MessageToken: Sendable, Hashable {
    /// A number unique within its process.
    public let rawValue: UInt64

    /// Wraps a number.
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

/// An event for the user of a client. Events are delivered in the order in which the machine emits them, across the
/// client, its subscriptions and its messages.
public enum SessionEvent: Sendable, Equatable {
    /// `didChangeStatus`.
    case statusChanged(ClientStatus)
    /// `didReceiveServerError`; always after `.statusChanged(.disconnected)`.
    case serverError(code: Int, message: String)
    /// `didChangeProperty`, with the value that the property has from now on.
    case propertyChanged(PropertyChange)
    /// An event of one subscription.
    case subscription(SubscriptionToken, SubscriptionEvent)
    /// The outcome of one message.
    case message(MessageToken, MessageOutcome)
    /// A message is finished without an outcome: none was requested, or the server reported a duplicate (codes 32 and 33) and
    /// no outcome of the copy that it has. The user receives no event.
    case messageReleased(MessageToken)
    /// An event for legacy listeners only.
    case legacy(LegacyEvent)
}

/// A property that the server, or the course of the session, changed. Changes made by the user's own setters are
/// notified by the setter itself.
public enum PropertyChange: Sendable, Equatable {
    /// `sessionId`; nil when the session ends.
    case sessionId(String?)
    /// `serverInstanceAddress`; nil when the session ends.
    case serverInstanceAddress(String?)
    /// `serverSocketName`; nil when the session ends.
    case serverSocketName(String?)
    /// `clientIp`; nil when the session ends.
    case clientIp(String?)
    /// `realMaxBandwidth`; nil when the session ends.
    case realMaxBandwidth(RealMaxBandwidth?)
    /// `keepaliveInterval` in seconds, as granted by the server.
    case keepaliveInterval(Double)
    /// `idleTimeout` in seconds, as granted by the server.
    case idleTimeout(Double)
    /// `pollingInterval` in seconds, as granted by the server.
    case pollingInterval(Double)
    /// `currentConnectTimeout` in seconds, as adapted by the library.
    case currentConnectTimeout(Double)
}

/// An event of one subscription (class reference: `LSSubscriptionDelegate`).
public enum SubscriptionEvent: Sendable, Equatable {
    /// `subscriptionDidSubscribe`. Counts are first-level; positions are 1-based and nil unless COMMAND.
    case subscribed(itemCount: Int, fieldCount: Int, keyPosition: Int?, commandPosition: Int?)
    /// `subscriptionDidUnsubscribe`. `isFinal`: the server removed it, so it is no longer active.
    case unsubscribed(isFinal: Bool)
    /// `didFailWithErrorCode`; the subscription is no longer active.
    case failed(code: Int, message: String)
    /// `didUpdateItem`.
    // Indirect, because the event is passed on many times: a copy retains one object in place of
    // every part of the update.
    indirect case update(ItemUpdate)
    /// `didEndSnapshotForItemName`; the position is 1-based.
    case endOfSnapshot(itemPos: Int)
    /// `didClearSnapshotForItemName`; the position is 1-based.
    case clearSnapshot(itemPos: Int)
    /// `didLoseUpdates`; the position is 1-based.
    case lostUpdates(count: Int, itemPos: Int)
    /// `didFailWithErrorCode` of the second-level subscription of a key.
    case secondLevelFailed(code: Int, message: String, key: String)
    /// `didLoseUpdates` of the second-level subscription of a key.
    case secondLevelLostUpdates(count: Int, key: String)
    /// `didReceiveRealFrequency`; nil: unknown.
    case realMaxFrequency(RealMaxFrequency?)
}

/// The code and message of a server that refused or removed a subscription.
package struct UpstreamRefusal: Sendable, Equatable {
    /// The code reported for a removal, because the protocol defines none. In the class reference it means "error in
    /// the interpretation of a server response"; a removal before the subscription was active has the same code.
    package static let removalCode = 61
    /// The code of a session whose lines the client cannot parse.
    package static let badDataCode = 61
    private static let removalMessage = "Removed by the server"

    /// Whether the refusal stands for a removal by the server, which has no code of its own.
    package var isRemoval: Bool { code == Self.removalCode && message == Self.removalMessage }

    /// Whether the error of a session lasts until the configuration or the server changes: the Metadata Adapter refuses
    /// the user (0 and below), user or password (1), Adapter Set (2), licence (11, 60, 71), pins (62), port (70).
    package var isLasting: Bool { code <= 0 || [1, 2, 11, 60, 62, 70, 71].contains(code) }

    /// The code of a request that exceeds the request limit of the server and was therefore not sent: that of malformed
    /// requests, with which a server ends the session instead of refusing a subscription or message.
    private static let oversizedCode = 67
    private static let oversizedEnding = " bytes and was not sent"

    /// Whether the refusal is that of a request which was not sent, not of the server.
    package var isOversized: Bool { code == Self.oversizedCode && message.hasSuffix(Self.oversizedEnding) }

    /// The code of a key that is no item name: no second-level subscription is requested.
    static let badKeyCode = 14

    /// The refusal of a request that exceeds the request limit of the server; both in bytes.
    static func oversized(_ size: Int, limit: Int) -> UpstreamRefusal {
        let message = "The request of \(size) bytes exceeds the server's limit of \(limit)" + oversizedEnding
        return UpstreamRefusal(code: oversizedCode, message: message)
    }

    /// The code, as the class reference lists them.
    package let code: Int
    package let message: String

    package init(code: Int, message: String) {
        self.code = code
        self.message = message
    }

    /// The refusal that an event reports; nil for an event that reports none. A final `unsubscribed`
    /// is a removal by the server.
    package init?(_ event: SubscriptionEvent) {
        switch event {
        case .failed(let code, let message): self.init(code: code, message: message)
        case .unsubscribed(isFinal: true): self.init(code: Self.removalCode, message: Self.removalMessage)
        default: return nil
        }
    }
}

/// How a message ended (class reference: `LSClientMessageDelegate`).
public enum MessageOutcome: Sendable, Equatable {
    /// `didProcessMessage`; the response is empty if the Metadata Adapter gave none.
    case processed(response: String)
    /// `didDenyMessage`: refused by the Metadata Adapter with a code of its own.
    case denied(code: Int, message: String)
    /// `didDiscardMessage`: never reached the Metadata Adapter.
    case discarded
    /// `didFailMessage`: processing failed.
    case failed
    /// `didAbortMessage`: the outcome will never be known.
    case aborted(sentOnNetwork: Bool)
}

/// An event from which the events of the legacy connection delegate are derived.
public enum LegacyEvent: Sendable, Equatable {
    /// A `CONOK` arrived: on creation, bind, poll or recovery.
    case connectionEstablished
    /// The server ended the session with this `END` code; no retry follows.
    case ended(cause: Int)
    /// A connection failed; the client reconnects by itself.
    case connectionFailed(reason: String)
    /// `CONERR`, `ERROR`, a fatal `REQERR`, or an `END` that a retry follows. `isRetried`: another attempt follows.
    case serverFailed(code: Int, message: String, isRetried: Bool)
    /// Server data could not be interpreted.
    case badData(reason: String)
    /// The disconnection that the application asked for is complete.
    case closed
    /// The server has registered the device, or its new token.
    case deviceRegistered(DeviceTokenInfo)
    /// A device token change or registration was refused.
    case deviceRefused(code: Int, message: String)
    /// A badge reset ended; `code` nil means success.
    case badgeReset(deviceId: String?, code: Int?, message: String?)
}

/// The server's report about a registered device.
public struct DeviceTokenInfo: Sendable, Equatable {
    /// The server's name for the device.
    public let deviceID: String
    /// The name of the server's adapter for push notifications.
    public let adapterName: String

    /// The information of one registration.
    public init(deviceID: String, adapterName: String) {
        self.deviceID = deviceID
        self.adapterName = adapterName
    }
}

/// The status of a client's connection, with the strings of the class reference as raw values.
public enum ClientStatus: String, Sendable, Hashable, CaseIterable {
    /// A session creation request is being opened or sent.
    case connecting = "CONNECTING"
    /// A session exists, its transport is still to be chosen (creation over HTTP only).
    case connectedStreamSensing = "CONNECTED:STREAM-SENSING"
    /// The session is bound to a WebSocket and streams.
    case connectedWSStreaming = "CONNECTED:WS-STREAMING"
    /// The session is bound to an HTTP response and streams.
    case connectedHTTPStreaming = "CONNECTED:HTTP-STREAMING"
    /// The session polls over a WebSocket.
    case connectedWSPolling = "CONNECTED:WS-POLLING"
    /// The session polls over HTTP.
    case connectedHTTPPolling = "CONNECTED:HTTP-POLLING"
    /// A streaming connection has been silent for longer than the keepalive interval plus the stalled timeout.
    case stalled = "STALLED"
    /// The session is lost or could not be opened; a new one will be tried.
    case disconnectedWillRetry = "DISCONNECTED:WILL-RETRY"
    /// The session was interrupted; attempts to recover it are under way.
    case disconnectedTryingRecovery = "DISCONNECTED:TRYING-RECOVERY"
    /// There is no connection, and the client makes no attempt until `connect()`.
    case disconnected = "DISCONNECTED"

    /// Whether the status is one of the `CONNECTED:*`.
    public var isConnected: Bool {
        switch self {
        case .connectedStreamSensing, .connectedWSStreaming, .connectedHTTPStreaming, .connectedWSPolling,
            .connectedHTTPPolling:
            true
        case .connecting, .stalled, .disconnectedWillRetry, .disconnectedTryingRecovery, .disconnected: false
        }
    }
}
