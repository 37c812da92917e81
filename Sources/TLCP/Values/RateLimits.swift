/// A bandwidth limit in a request (`LS_requested_max_bandwidth`).
package enum RequestedBandwidth: Sendable, Hashable {
    /// A maximum in kilobits per second, greater than 0.
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

/// The bandwidth limit in force on a session (`CONS`).
package enum GrantedBandwidth: Sendable, Hashable {
    /// A maximum in kilobits per second.
    case limited(Double)
    /// No limit.
    case unlimited
    /// No limit, and the client cannot request one.
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

/// A frequency limit in a request (`LS_requested_max_frequency`).
package enum RequestedFrequency: Sendable, Hashable {
    /// A maximum of updates per second, greater than 0.
    case limited(Double)
    /// No limit.
    case unlimited
    /// No limit, and every lost update is reported.
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

/// The frequency limit in force on a subscription (`CONF`).
package enum GrantedFrequency: Sendable, Hashable {
    /// A maximum of updates per second for each item.
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

/// The size of the buffer for pending updates of an item (`LS_requested_buffer_size`).
package enum BufferSize: Sendable, Hashable {
    /// A maximum number of updates.
    case limited(Int)
    /// The maximum of the server.
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
