/// One connection: a WebSocket, or one HTTP request with its response. It exists from the moment it is asked for, so
/// it can be closed while it is still being opened.
package protocol Transport: AnyObject, Sendable {
    /// What the connection can do.
    var traits: TransportTraits { get }
    /// Sends one text message. Only where `traits.isMultiplexed`; once the connection is closed it does nothing.
    func send(_ message: [UInt8])
    /// Takes back a batch that was handled: its bytes no longer count against the receive window.
    func handled(_ byteCount: Int)
    /// Closes the connection after what was sent has gone out; no event follows. May be called twice.
    func close()
    /// The rest of an HTTP response is of no interest: lets it end within a bound, so that its socket can be used again,
    /// else closes it; no event follows. For a WebSocket the same as `close()`.
    func release()
}

/// What tells transports apart.
package struct TransportTraits: Sendable, Hashable {
    /// Whether requests can be sent for as long as it is open, beside what it receives.
    package var isMultiplexed: Bool
    /// Whether lines come until the peer or this side has had enough.
    package var isStreaming: Bool

    /// Traits.
    package init(isMultiplexed: Bool, isStreaming: Bool) {
        self.isMultiplexed = isMultiplexed
        self.isStreaming = isStreaming
    }
}

/// What a transport tells, in order, on a network thread.
package enum TransportEvent: Sendable, Equatable {
    /// A WebSocket is usable; an HTTP request was answered by a status inside 200…299.
    case opened
    /// Lines arrived, or bytes that complete no line yet. To be given back by `handled`.
    case received(LineBatch)
    /// The connection ended by itself; the last event. Not told after `close()`.
    case closed(TransportEnd)
}

/// Lines that arrived together.
package struct LineBatch: Sendable, Equatable {
    /// The lines without their CR-LF; all slices of few buffers.
    package var lines: [ArraySlice<UInt8>]
    /// How many bytes came from the network for them.
    package var byteCount: Int

    /// A batch.
    package init(lines: [ArraySlice<UInt8>], byteCount: Int) {
        self.lines = lines
        self.byteCount = byteCount
    }
}

/// How a connection ended.
package enum TransportEnd: Sendable, Equatable {
    /// HTTP: the response is complete. WebSocket: the peer closed.
    case completed
    /// It could not be opened, broke, or was answered by an HTTP status outside 200…299.
    case failed(reason: String)
    /// The server's public key matches none of the pins.
    case identityRejected(reason: String)
}
