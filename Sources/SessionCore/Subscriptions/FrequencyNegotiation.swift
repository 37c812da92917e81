/// The frequency that the user asks for against the one that the server was asked for.
///
/// ```text
/// stable --(requested differs)--> changing --(accepted)--> compare again
///                                          --(refused)--> still the value sent? give up : compare again
/// ```
struct FrequencyNegotiation: Sendable {
    /// What the user's property says.
    private(set) var requested: RequestedMaxFrequency?
    /// What goes into an add: the property as it was at `subscribe`, or at the end of the last session.
    private(set) var current: RequestedMaxFrequency?
    /// The value of the last reconf written; nil: none since the last comparison.
    private var sent: RequestedMaxFrequency?

    /// A negotiation that begins with the property as it is.
    init(_ requested: RequestedMaxFrequency?) {
        self.requested = requested
        current = requested
    }

    /// Whether a reconf is called for: the values differ, and the new one can be asked for by a reconf.
    var differs: Bool {
        switch requested {
        case .limited, .unlimited: requested != current && current != .unfiltered
        case .unfiltered, nil: false
        }
    }

    /// The property was set.
    mutating func request(_ frequency: RequestedMaxFrequency?) { requested = frequency }

    /// Whether a reconf that was called for, but never written, is still called for.
    var isWorthSending: Bool { sent != nil || differs }

    /// A reconf is written: it carries the property's present value.
    mutating func reconfWritten() { sent = requested }

    /// The server accepted the reconf; true: another one is called for.
    mutating func reconfAccepted() -> Bool {
        current = sent
        sent = nil
        return differs
    }

    /// The server refused the reconf; true: the property has changed meanwhile, and another one is called for.
    mutating func reconfRefused() -> Bool {
        defer { sent = nil }
        return requested != sent && differs
    }

    /// The session ended: the property as it is goes into the next add.
    mutating func sessionEnded() {
        current = requested
        sent = nil
    }
}
