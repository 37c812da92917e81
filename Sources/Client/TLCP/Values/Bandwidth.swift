internal import Primitives

/// A bandwidth limit requested from the server, in kilobits per second (class reference: `requestedMaxBandwidth`; TLCP:
/// `LS_requested_max_bandwidth`).
public enum RequestedMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s; greater than 0.
    case limited(Double)
    /// No limit is requested.
    case unlimited
}

extension RequestedMaxBandwidth: WireLimit {
    package static let words: [String: Self] = ["unlimited": .unlimited]
    package var number: Double? { if case .limited(let limit) = self { limit } else { nil } }
    static func number(wire: String) -> Double? { WireNumber.receivedDecimal(wire).flatMap { $0 > 0 ? $0 : nil } }
}

/// The bandwidth limit in force on a session (class reference: `realMaxBandwidth`; TLCP: `CONS`).
public enum RealMaxBandwidth: Sendable, Hashable {
    /// At most this many kbit/s.
    case limited(Double)
    /// The server applies no limit.
    case unlimited
    /// The server applies no limit, and clients cannot request one.
    case unmanaged
}

extension RealMaxBandwidth: WireLimit {
    package static let words: [String: Self] = ["unlimited": .unlimited, "unmanaged": .unmanaged]
    package var number: Double? { if case .limited(let limit) = self { limit } else { nil } }
}
