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

/// A frequency limit requested from the server, in updates per second and item (class reference:
/// `requestedMaxFrequency`; TLCP: `LS_requested_max_frequency`).
public enum RequestedMaxFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item (COMMAND: for each key); greater than 0.
    case limited(Double)
    /// No limit, but the server may merge or drop updates for other reasons.
    case unlimited
    /// No limit, and every loss is reported.
    case unfiltered

    init?(wire: String) {
        switch wire {
        case "unlimited": self = .unlimited
        case "unfiltered": self = .unfiltered
        default:
            guard let value = WireNumber.receivedDecimal(wire), value > 0 else { return nil }
            self = .limited(value)
        }
    }

    var wire: String {
        switch self {
        case .limited(let value): WireNumber.text(value)
        case .unlimited: "unlimited"
        case .unfiltered: "unfiltered"
        }
    }
}

/// The frequency limit in force on a subscription (class reference: `didReceiveRealFrequency`; TLCP: `CONF`).
public enum RealMaxFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item.
    case limited(Double)
    /// No limit.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let value = WireNumber.receivedDecimal(wire) {
            self = .limited(value)
        } else {
            return nil
        }
    }

    var wire: String {
        switch self {
        case .limited(let value): WireNumber.text(value)
        case .unlimited: "unlimited"
        }
    }
}

/// The length of the server's queue of pending updates of an item (class reference: `requestedBufferSize`; TLCP:
/// `LS_requested_buffer_size`).
public enum RequestedBufferSize: Sendable, Hashable {
    /// At most this many updates; greater than 0.
    case limited(Int)
    /// As many as the server allows.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let size = WireNumber.count(Array(wire.utf8)[...]) {
            self = .limited(size)
        } else {
            return nil
        }
    }

    var wire: String {
        switch self {
        case .limited(let size): String(size)
        case .unlimited: "unlimited"
        }
    }
}
