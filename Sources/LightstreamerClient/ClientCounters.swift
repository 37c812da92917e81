/// What a client has seen since it was made.
public struct ClientCounters: Sendable, Hashable {
    /// Bytes received, before decoding.
    public var bytesReceived: UInt64 = 0
    /// Lines received.
    public var linesReceived: UInt64 = 0
    /// Updates delivered.
    public var updates: UInt64 = 0
    /// Sessions opened.
    public var sessions: UInt64 = 0
    /// Connections that failed and were made good by the client itself.
    public var connectionFailures: UInt64 = 0

    /// All zero.
    public init() {}
}
