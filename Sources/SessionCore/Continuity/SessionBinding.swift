/// How a session is bound, or about to be bound, to a connection.
struct SessionBinding: Equatable {
    /// What is waited for.
    enum Step: Equatable {
        /// `LOOP` on the response of an HTTP creation. *Leaves to* a new binding.
        case preflight(Creation.Way)
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `wsok` was sent on the WebSocket; for streaming the bind went with it. *Leaves to* `asked` by `WSOK`.
        case greeting
        /// `CONOK` of the bind. *Leaves to* `streaming`, `polling` or `pollingForced`.
        case asked
        /// `CONOK` or `LOOP`: the HTTP streaming response is withheld somewhere, and the server was asked to end it.
        /// *Leaves to* `streaming`, and by `LOOP` to a new binding.
        case pollingForced
        /// Lines of a stream, until `LOOP`.
        case streaming
        /// Lines of a poll, until `LOOP`. *Leaves to* `pausing`, or to a new binding.
        case polling
        /// The time of the next poll. *Leaves to* `polling`.
        case pausing
    }

    /// The way in which the session is bound; a preflight counts as HTTP polling.
    let rung: SessionTransport
    /// The connection that carries the bind; nil between two HTTP polls.
    var connection: ConnectionID?
    /// What is waited for.
    var step: Step

    /// Whether the session is bound for good: its status is that of the rung.
    var isEstablished: Bool {
        switch step {
        case .streaming, .polling, .pausing: true
        case .preflight, .opening, .greeting, .asked, .pollingForced: false
        }
    }
}
