/// Totals of a client since it was created.
public struct ClientCounters: Sendable, Hashable {
    /// Bytes received, before decoding.
    public var bytesReceived: UInt64 = 0
    /// Lines received.
    public var linesReceived: UInt64 = 0
    /// Updates delivered.
    public var updates: UInt64 = 0
    /// Sessions opened.
    public var sessions: UInt64 = 0
    /// Connections that failed and that the client replaced by itself.
    public var connectionFailures: UInt64 = 0
    /// Changes of status to `DISCONNECTED:WILL-RETRY` or `DISCONNECTED:TRYING-RECOVERY`.
    public var reconnects: UInt64 = 0
    /// Server errors received.
    public var serverErrors: UInt64 = 0
    /// Messages accepted by `sendMessage`.
    public var messages: UInt64 = 0

    /// All zero.
    public init() {}
}
