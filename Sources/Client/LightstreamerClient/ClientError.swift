/// The reason why a call was refused. Errors are thrown by the call itself, before anything has changed.
public struct ClientError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error. The set is open: later versions may add codes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A fixed identifier in kebab case.
        public let rawValue: String

        /// Wraps an identifier.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A value that the property does not admit.
        public static let invalidValue = Code(rawValue: "invalid-value")
        /// A legal value or call that the present state does not allow.
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
        /// A call that is allowed only in COMMAND mode.
        public static let notCommandMode = Code(rawValue: "not-command-mode")
        /// More messages are unfinished than `ClientConfiguration.maxPendingMessages` or
        /// `maxPendingMessageBytes` allows.
        public static let overloaded = Code(rawValue: "overloaded")
        /// The client was shut down.
        public static let shutDown = Code(rawValue: "shut-down")
        /// An event sequence was read too slowly and has missed events.
        public static let slowReader = Code(rawValue: "slow-reader")
        /// TLS settings that cannot be used: unreadable or malformed certificates or keys.
        public static let invalidTLS = Code(rawValue: "invalid-tls")
    }

    /// The kind of error.
    public let code: Code
    /// The property or argument concerned; nil if there is none.
    public let property: String?
    /// The refused value as text; nil if there is none, and always for a password.
    public let value: String?
    /// The violated rule, as a sentence without a full stop.
    public let rule: String

    /// An error.
    public init(_ code: Code, property: String? = nil, value: String? = nil, rule: String) {
        self.code = code
        self.property = property
        self.value = value
        self.rule = rule
    }

    /// The error for a value that a property does not admit.
    static func invalid(_ property: String, _ value: String?, _ rule: String) -> ClientError {
        ClientError(.invalidValue, property: property, value: value, rule: rule)
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
