internal import Primitives

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

extension RequestedSnapshot: NumberOrWord {
    package static let words: [String: Self] = ["yes": .yes, "no": .no]
    package static func limited(_ number: Int) -> Self { .length(number) }
    package var number: Int? { if case .length(let length) = self { length } else { nil } }
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
}

extension RequestedMaxFrequency: WireLimit {
    package static let words: [String: Self] = ["unlimited": .unlimited, "unfiltered": .unfiltered]
    package var number: Double? { if case .limited(let limit) = self { limit } else { nil } }
    static func number(wire: String) -> Double? { WireNumber.receivedDecimal(wire).flatMap { $0 > 0 ? $0 : nil } }
}

/// The frequency limit in force on a subscription (class reference: `didReceiveRealFrequency`; TLCP: `CONF`).
public enum RealMaxFrequency: Sendable, Hashable {
    /// At most this many updates per second for each item.
    case limited(Double)
    /// No limit.
    case unlimited
}

extension RealMaxFrequency: WireLimit {
    package static let words: [String: Self] = ["unlimited": .unlimited]
    package var number: Double? { if case .limited(let limit) = self { limit } else { nil } }
}

/// The length of the server's queue of pending updates of an item (class reference: `requestedBufferSize`; TLCP:
/// `LS_requested_buffer_size`).
public enum RequestedBufferSize: Sendable, Hashable {
    /// At most this many updates; greater than 0.
    case limited(Int)
    /// As many as the server allows.
    case unlimited
}

extension RequestedBufferSize: WireLimit {
    package static let words: [String: Self] = ["unlimited": .unlimited]
    package var number: Int? { if case .limited(let size) = self { size } else { nil } }
}

/// A limit whose words are the same in requests, in notifications and in the class reference.
protocol WireLimit: NumberOrWord {
    /// Reads a number; nil for other text.
    static func number(wire: String) -> Number?
}

extension WireLimit {
    init?(wire: String) {
        guard let value = Self.words[wire] ?? Self.number(wire: wire).map(Self.limited) else { return nil }
        self = value
    }
}

extension WireLimit where Number == Double {
    static func number(wire: String) -> Double? { WireNumber.receivedDecimal(wire) }
    var wire: String {
        guard let number else { return word ?? "" }
        return WireNumber.text(number)
    }
}

extension WireLimit where Number == Int {
    static func number(wire: String) -> Int? { WireNumber.count(Array(wire.utf8)[...]) }
    var wire: String {
        guard let number else { return word ?? "" }
        return String(number)
    }
}
