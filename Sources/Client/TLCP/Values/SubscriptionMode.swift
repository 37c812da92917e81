/// How a subscription's items behave (class reference: `LSSubscription.mode`; TLCP: `LS_mode`).
public enum SubscriptionMode: String, Sendable, Hashable, CaseIterable {
    /// Each item is one row; an update changes some of its fields.
    case merge = "MERGE"
    /// Each item is a list of rows; an update appends one.
    case distinct = "DISTINCT"
    /// Each item is a stream of events as the Data Adapter produces them.
    case raw = "RAW"
    /// Each item is a table whose rows are added, updated and deleted by key.
    case command = "COMMAND"
}

/// Whether, and how much of, the snapshot is requested from the server (class reference: `requestedSnapshot`; TLCP:
/// `LS_snapshot`).
public enum RequestedSnapshot: Sendable, Hashable {
    /// The snapshot is sent before the updates.
    case yes
    /// No snapshot is sent.
    case no
    /// DISTINCT only: at most this many past updates; greater than 0.
    case length(Int)

    init?(wire: String) {
        switch wire {
        case "true": self = .yes
        case "false": self = .no
        default:
            guard let length = WireNumber.count(Array(wire.utf8)[...]) else { return nil }
            self = .length(length)
        }
    }

    var wire: String {
        switch self {
        case .yes: "true"
        case .no: "false"
        case .length(let length): String(length)
        }
    }
}
