/// A frequency limit as a client asks for it (`LS_requested_max_frequency`).
package enum RequestedFrequency: Sendable, Hashable {
    /// At most this many updates per second; greater than 0.
    case limited(Double)
    /// No limit.
    case unlimited
    /// No limit, and no loss that goes unreported.
    case unfiltered

    init?(wire: String) {
        switch wire {
        case "unlimited": self = .unlimited
        case "unfiltered": self = .unfiltered
        default:
            guard let value = WireNumber.decimal(wire), value > 0 else { return nil }
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
