package import SessionCore

/// An event of the legacy connection delegate as a stream tells it.
package enum LegacyStreamEvent: Sendable, Equatable {
    /// A connection was established: on creation, bind, poll or recovery.
    case connectionEstablished
    /// A session was opened; once for each.
    case sessionStarted(polling: Bool)
    /// So many bytes came from the server. The hub adds them up and tells at most once a second.
    case bytesReceived(Int)
    /// The connection became silent for too long, or speaks again.
    case activityWarning(Bool)
    /// The disconnection that the application asked for is complete.
    case connectionClosed
    /// The server ended the session for good.
    case connectionEnded(cause: Int)
    /// A connection failed; the client goes on by itself.
    case connectionFailure(reason: String)
    /// The server signalled a failure.
    case serverFailure(code: Int, message: String)
    /// Server data could not be interpreted.
    case dataError(reason: String)
    /// A device token change ended; `code` nil means success.
    case deviceTokenChange(code: Int?, message: String?)
    /// A badge reset ended; `code` nil means success.
    case badgeReset(code: Int?, message: String?)

    /// What the session core tells legacy listeners.
    package init(_ event: LegacyEvent) {
        switch event {
        case .connectionEstablished: self = .connectionEstablished
        case .ended(let cause): self = .connectionEnded(cause: cause)
        case .connectionFailed(let reason): self = .connectionFailure(reason: reason)
        case .serverFailed(let code, let message): self = .serverFailure(code: code, message: message)
        case .badData(let reason): self = .dataError(reason: reason)
        case .closed: self = .connectionClosed
        case .deviceRegistered(_, let code, let message): self = .deviceTokenChange(code: code, message: message)
        case .badgeReset(_, let code, let message): self = .badgeReset(code: code, message: message)
        }
    }
}
