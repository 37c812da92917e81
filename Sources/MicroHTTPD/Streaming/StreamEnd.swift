/// Why a stream is over.
package enum StreamEnd: Sendable, Hashable {
    /// The content said `.finish`, and its last bytes were handed to the kernel.
    case finished
    /// The client closed its side, or the connection broke.
    case peerClosed
    /// The client took nothing for longer than the configured time.
    case blockedTooLong
    /// The daemon is being closed.
    case daemonClosed
    /// The stream never stood: its client had gone before, or asked with `HEAD`.
    case neverOpened
}
