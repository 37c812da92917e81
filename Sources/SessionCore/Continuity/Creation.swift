/// A creation request on its way.
struct Creation: Equatable {
    /// How the session is created.
    enum Way: Equatable {
        /// On the WebSocket that will carry the stream.
        case webSocket
        /// By an HTTP poll that is answered at once.
        case http
        /// As `http`, after the server said that it is overloaded: it may take its time.
        case unlimited

        /// The first word of `LS_cause`.
        var causePrefix: String {
            switch self {
            case .webSocket: "ws"
            case .http: "http"
            case .unlimited: "ttl"
            }
        }
    }

    /// What is waited for.
    enum Step: Equatable {
        /// The WebSocket is being opened. *Leaves to* `greeting`.
        case opening
        /// `wsok` and the request were sent on the WebSocket. *Leaves to* `asked` by `WSOK`.
        case greeting
        /// `CONOK` is waited for.
        case asked
    }

    /// How the session is created.
    let way: Way
    /// The connection that carries the request.
    let connection: ConnectionID
    /// The address that it goes to.
    let address: String
    /// Whether a control link will be ignored; as the option stood when the creation began.
    let ignoresControlLink: Bool
    /// What is waited for.
    var step: Step
}
