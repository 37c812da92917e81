// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import SessionCore

// Aliases in the spelling of the Lightstreamer client for Apple platforms.

extension SubscriptionMode {
    /// `merge`.
    public static var MERGE: SubscriptionMode { .merge }
    /// `distinct`.
    public static var DISTINCT: SubscriptionMode { .distinct }
    /// `raw`.
    public static var RAW: SubscriptionMode { .raw }
    /// `command`.
    public static var COMMAND: SubscriptionMode { .command }
}

extension ClientStatus {
    /// `connecting`.
    public static var CONNECTING: ClientStatus { .connecting }
    /// `connectedStreamSensing`.
    public static var CONNECTED_STREAM_SENSING: ClientStatus { .connectedStreamSensing }
    /// `connectedWSStreaming`.
    public static var CONNECTED_WS_STREAMING: ClientStatus { .connectedWSStreaming }
    /// `connectedHTTPStreaming`.
    public static var CONNECTED_HTTP_STREAMING: ClientStatus { .connectedHTTPStreaming }
    /// `connectedWSPolling`.
    public static var CONNECTED_WS_POLLING: ClientStatus { .connectedWSPolling }
    /// `connectedHTTPPolling`.
    public static var CONNECTED_HTTP_POLLING: ClientStatus { .connectedHTTPPolling }
    /// `stalled`.
    public static var STALLED: ClientStatus { .stalled }
    /// `disconnectedWillRetry`.
    public static var DISCONNECTED_WILL_RETRY: ClientStatus { .disconnectedWillRetry }
    /// `disconnectedTryingRecovery`.
    public static var DISCONNECTED_TRYING_RECOVERY: ClientStatus { .disconnectedTryingRecovery }
    /// `disconnected`.
    public static var DISCONNECTED: ClientStatus { .disconnected }
}

extension ForcedTransport {
    /// `ws`.
    public static var WS: ForcedTransport { .ws }
    /// `wsStreaming`.
    public static var WS_STREAMING: ForcedTransport { .wsStreaming }
    /// `wsPolling`.
    public static var WS_POLLING: ForcedTransport { .wsPolling }
    /// `http`.
    public static var HTTP: ForcedTransport { .http }
    /// `httpStreaming`.
    public static var HTTP_STREAMING: ForcedTransport { .httpStreaming }
    /// `httpPolling`.
    public static var HTTP_POLLING: ForcedTransport { .httpPolling }
}

extension LightstreamerClient {
    /// `libName`.
    public static var LIB_NAME: String { libName }
    /// `libVersion`.
    public static var LIB_VERSION: String { libVersion }
}

extension Subscription {
    /// As `init(mode:)`.
    public convenience init(subscriptionMode mode: Mode) { self.init(mode: mode) }

    /// As `init(mode:items:fields:)`.
    public convenience init(subscriptionMode mode: Mode, items: [String], fields: [String]) throws(ClientError) {
        try self.init(mode: mode, items: items, fields: fields)
    }

    /// As `init(mode:item:fields:)`.
    public convenience init(subscriptionMode mode: Mode, item: String, fields: [String]) throws(ClientError) {
        try self.init(mode: mode, item: item, fields: fields)
    }
}
