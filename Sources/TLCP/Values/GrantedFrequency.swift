/// The frequency limit in force on a subscription (`CONF`).
package enum GrantedFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item.
    case limited(Double)
    /// No limit.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let value = WireNumber.decimal(wire) {
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
