package import SessionCore

/// Why a client has no connection, or lost it.
package struct ConnectionTrouble: Sendable, Equatable {
    package let kind: FailureKind
    /// The error of the server, with `serverError`; nil with other kinds.
    package let refusal: UpstreamRefusal?
    /// The HTTP status of the server or proxy; nil: the failure had none.
    var httpStatus: Int?
    /// The address that was tried; nil: unknown.
    package var address: String?
    /// Whether the server has named the address in its control link.
    package var isControlLink = false
    /// When the first attempt failed for this reason.
    package private(set) var since: Moment
    /// The number of attempts that have failed for this reason, one after the other.
    package var attempts = 1
    /// When the next attempt begins; nil: unknown, or none.
    package var nextAttempt: Moment?

    /// The code of the server's error, or the HTTP status; nil: neither.
    package var code: Int? { refusal?.code ?? httpStatus }

    func hasSameReason(as other: ConnectionTrouble?) -> Bool {
        kind == other?.kind && code == other?.code && address == other?.address
    }

    /// This failure after an earlier one: the attempts with the same reason count together.
    func following(_ earlier: ConnectionTrouble?) -> ConnectionTrouble {
        guard let earlier, hasSameReason(as: earlier) else { return self }
        var result = self
        result.since = earlier.since
        result.attempts = earlier.attempts + 1
        return result
    }
}

/// A change of the connection of a client that an operator wants to know.
package enum ConnectionReport: Sendable, Equatable {
    /// The client cannot connect, or has lost its connection, for a reason other than before.
    case failed(ConnectionTrouble)
    /// The client has connected, after failures or for the first time.
    case connected(after: ConnectionTrouble?)
}

/// Receives the reports of clients, on the task of the client; it must not wait.
package typealias ConnectionObserver = @Sendable (PooledClient, ConnectionReport) -> Void

extension ClientStatus {
    /// Whether updates can arrive in this status.
    var delivers: Bool { isConnected && self != .connectedStreamSensing }

    /// Whether the session is there, and its connection is lost or silent.
    var isInterrupted: Bool { self == .disconnectedTryingRecovery || self == .stalled }
}
