/// A bandwidth limit as a client asks for it (`LS_requested_max_bandwidth`).
package enum RequestedBandwidth: Sendable, Hashable {
    /// At most this many kilobits per second; greater than 0.
    case limited(Double)
    /// No limit.
    case unlimited

    init?(wire: String) {
        if wire == "unlimited" {
            self = .unlimited
        } else if let value = Self.limit(wire) {
            self = .limited(value)
        } else {
            return nil
        }
    }

    /// A limit in kbit/s; nil if the text is not a positive decimal number.
    static func limit(_ wire: String) -> Double? {
        WireNumber.decimal(wire).flatMap { $0 > 0 ? $0 : nil }
    }

    var wire: String {
        switch self {
        case .limited(let value): WireNumber.text(value)
        case .unlimited: "unlimited"
        }
    }
}
