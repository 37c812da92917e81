/// The bandwidth limit in force on a session (`CONS`).
package enum GrantedBandwidth: Sendable, Hashable {
    /// At most this many kilobits per second.
    case limited(Double)
    /// No limit.
    case unlimited
    /// No limit, and the client may not ask for one.
    case unmanaged

    init?(wire: String) {
        switch wire {
        case "unlimited": self = .unlimited
        case "unmanaged": self = .unmanaged
        default:
            guard let value = WireNumber.decimal(wire) else { return nil }
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
