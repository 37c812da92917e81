/// A bandwidth limit requested from the server, in kilobits per second (class reference: `requestedMaxBandwidth`; TLCP:
/// `LS_requested_max_bandwidth`).
public enum RequestedMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s; greater than 0.
    case limited(Double)
    /// No limit is requested.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let value = WireNumber.receivedDecimal(wire), value > 0 {
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

/// The bandwidth limit in force on a session (class reference: `realMaxBandwidth`; TLCP: `CONS`).
public enum RealMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s.
    case limited(Double)
    /// The server applies no limit.
    case unlimited
    /// The server applies no limit, and clients cannot request one.
    case unmanaged

    init?(wire: String) {
        switch wire {
        case "unlimited": self = .unlimited
        case "unmanaged": self = .unmanaged
        default:
            guard let value = WireNumber.receivedDecimal(wire) else { return nil }
            self = .limited(value)
        }
    }

    var wire: String {
        switch self {
        case .limited(let value): WireNumber.text(value)
        case .unlimited: "unlimited"
        case .unmanaged: "unmanaged"
        }
    }
}
