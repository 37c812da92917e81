/// A change of transport during a session: the server is asked to end the present binding with `LOOP`.
enum TransportSwitch: Equatable {
    /// No change is under way. *Leaves to* `asked`.
    case none
    /// `force_rebind` is to be sent, or was sent. *Leaves to* `granted`, by a refusal to `none`.
    case asked(cause: String?)
    /// The server agreed; `LOOP` will come. *Leaves to* `none`.
    case granted(cause: String?)

    /// The reason for the change, where there is one.
    var cause: String? {
        switch self {
        case .none: nil
        case .asked(let cause), .granted(let cause): cause
        }
    }

    /// `force_rebind` was answered.
    mutating func answered(isAccepted: Bool) {
        switch self {
        case .asked(let cause): self = isAccepted ? .granted(cause: cause) : .none
        case .none, .granted: break
        }
    }
}
