/// A session that was interrupted.
struct Recovery: Equatable {
    /// What is waited for.
    enum Step: Equatable {
        /// The first pause, of random length. *Leaves to* `asked`.
        case firstPause
        /// A request was sent on this connection. *Leaves to* `pause` when it fails.
        case asked(ConnectionID)
        /// The pause after a failed attempt, which the network's return cuts short. *Leaves to* `asked`.
        case pause
    }

    /// When the session was interrupted.
    let since: Moment
    /// What is waited for.
    var step: Step

    /// The connection of the attempt under way.
    var connection: ConnectionID? {
        switch step {
        case .asked(let connection): connection
        case .firstPause, .pause: nil
        }
    }
}
