/// Why a call was refused. Every refusal happens inside the call, before anything has changed.
public struct ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What kind of refusal it is. The set is open: later versions may add codes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A fixed kebab-case word.
        public let rawValue: String

        /// Wraps a word.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value that the property does not admit.
        public static let invalidValue = Code(rawValue: "invalid-value")
        /// A legal value or call at the wrong moment.
        public static let lifecycle = Code(rawValue: "lifecycle")
        /// `connect()` without a server address.
        public static let noServerAddress = Code(rawValue: "no-server-address")
        /// `connect()` while `maxConcurrentSessionsPerServer` is reached and the policy is `BLOCK`.
        public static let tooManySessions = Code(rawValue: "too-many-sessions")
        /// A server address outside the configured list.
        public static let addressNotAllowed = Code(rawValue: "address-not-allowed")
        /// An item name that the subscription does not have.
        public static let unknownItem = Code(rawValue: "unknown-item")
        /// A field name that the subscription does not have.
        public static let unknownField = Code(rawValue: "unknown-field")
        /// A position outside the bounds.
        public static let outOfBounds = Code(rawValue: "out-of-bounds")
        /// A call that only COMMAND mode has.
        public static let notCommandMode = Code(rawValue: "not-command-mode")
        /// More messages wait to be sent than `ClientConfiguration.maxPendingMessages` allows.
        public static let overloaded = Code(rawValue: "overloaded")
        /// The client was shut down.
        public static let shutDown = Code(rawValue: "shut-down")
        /// An event sequence was read too slowly and has lost its place.
        public static let slowReader = Code(rawValue: "slow-reader")
        /// TLS settings that cannot be used: unreadable or malformed certificates or keys.
        public static let invalidTLS = Code(rawValue: "invalid-tls")
    }

    /// The kind of refusal.
    public let code: Code
    /// The property or argument concerned, under today's name; nil where none is.
    public let property: String?
    /// The refused value as text; nil where there is none, and always for a password.
    public let value: String?
    /// The rule that was broken, or what is wrong, as a sentence without a full stop.
    public let rule: String

    /// An error.
    public init(_ code: Code, property: String? = nil, value: String? = nil, rule: String) {
        self.code = code
        self.property = property
        self.value = value
        self.rule = rule
    }

    /// The property, the value and the rule.
    public var description: String {
        switch (property, value) {
        case (let property?, let value?): "\(property) = \(value): \(rule)"
        case (let property?, nil): "\(property): \(rule)"
        default: rule
        }
    }
}
