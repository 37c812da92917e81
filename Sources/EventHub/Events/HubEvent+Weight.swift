internal import SessionCore

extension HubEvent {
    /// About how many bytes of memory the event holds.
    var weight: Int {
        switch self {
        case .subscription(.update(let update)):
            update.values.reduce(160) { $0 &+ 16 &+ ($1?.utf8.count ?? 0) }
                + update.patches.values.reduce(0) { $0 &+ $1.utf8.count }
        case .serverError(_, let message), .message(_, .processed(let message)): 160 &+ message.utf8.count
        case .status, .property, .message, .legacy, .subscription: 160
        }
    }
}
