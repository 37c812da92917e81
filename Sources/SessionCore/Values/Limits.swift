/// A bandwidth limit asked from the server, in kilobits per second (class reference: `requestedMaxBandwidth`).
public enum RequestedMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s; greater than 0.
    case limited(Double)
    /// No limit asked.
    case unlimited
}

/// The bandwidth limit in force on a session (class reference: `realMaxBandwidth`).
public enum RealMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s.
    case limited(Double)
    /// The server applies no limit.
    case unlimited
    /// The server applies no limit and does not let the client ask for one.
    case unmanaged
}

/// A frequency limit asked from the server, in updates per second and item (class reference: `requestedMaxFrequency`).
public enum RequestedMaxFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item (COMMAND: for each key); greater than 0.
    case limited(Double)
    /// No limit, but the server may merge or drop updates for other reasons.
    case unlimited
    /// No limit and no loss that goes unreported.
    case unfiltered
}

/// The frequency limit in force on a subscription (`didReceiveRealFrequency`).
public enum RealMaxFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item.
    case limited(Double)
    /// No limit.
    case unlimited
}

/// The length of the server's queue of pending updates of an item (class reference: `requestedBufferSize`).
public enum RequestedBufferSize: Sendable, Hashable {
    /// At most this many updates; greater than 0.
    case limited(Int)
    /// As many as the server allows.
    case unlimited
}

/// Whether, and how much of, the snapshot is asked from the server (class reference: `requestedSnapshot`).
public enum RequestedSnapshot: Sendable, Hashable {
    /// The snapshot is sent before the updates.
    case yes
    /// No snapshot is sent.
    case no
    /// DISTINCT only: at most this many past updates; greater than 0.
    case length(Int)
}

/// The transports a client is told to keep to (class reference: `forcedTransport`).
public enum ForcedTransport: String, Sendable, Hashable, CaseIterable {
    /// WebSocket, streaming or polling.
    case ws = "WS"
    /// WebSocket, streaming.
    case wsStreaming = "WS-STREAMING"
    /// WebSocket, polling.
    case wsPolling = "WS-POLLING"
    /// HTTP, streaming or polling.
    case http = "HTTP"
    /// HTTP, streaming.
    case httpStreaming = "HTTP-STREAMING"
    /// HTTP, polling.
    case httpPolling = "HTTP-POLLING"
}
