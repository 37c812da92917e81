/// The reason why a call of a test server was refused.
public struct TestServerError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of error. The set is open: later versions may add codes.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// A fixed identifier in kebab case.
        public let rawValue: String

        /// Wraps an identifier.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The system refuses the port.
        public static let cannotListen = Code(rawValue: "cannot-listen")
        /// Two adapters with one name, or an adapter without the fields that its mode requires.
        public static let invalidAdapter = Code(rawValue: "invalid-adapter")
        /// An adapter that the server does not have.
        public static let unknownAdapter = Code(rawValue: "unknown-adapter")
        /// An item that the adapter does not have.
        public static let unknownItem = Code(rawValue: "unknown-item")
        /// A field that the adapter does not have.
        public static let unknownField = Code(rawValue: "unknown-field")
        /// Values of a COMMAND item without a key, or without `ADD`, `UPDATE` or `DELETE` as the command.
        public static let missingKey = Code(rawValue: "missing-key")
        /// The server was stopped.
        public static let stopped = Code(rawValue: "stopped")
    }

    /// The kind of error.
    public let code: Code
    /// The name that is wrong, or the system's reason.
    public let detail: String

    /// An error.
    public init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = detail
    }

    /// The code and the detail.
    public var description: String { "\(code.rawValue): \(detail)" }
}
