/// The decoded parameters of one line. The last value of a repeated name counts; unknown names are ignored.
struct ParameterReader {
    private var values: [String: String]
    /// The notification that carries a rejection.
    var carrier: RequestRejection.Carrier

    /// Parses a line; the parameters of the query string are defaults.
    init(
        _ line: ArraySlice<UInt8>,
        defaults: ParameterReader? = nil,
        carrier: RequestRejection.Carrier
    ) throws(RequestRejection) {
        self.carrier = carrier
        values = defaults?.values ?? [:]
        let literal = LiteralMessage(at: line)
        for piece in (literal?.parameters ?? line).split(separator: UInt8(ascii: "&")) {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else {
                throw RequestRejection(carrier, code: 65, message: "Parameter without a value")
            }
            guard let name = PercentCoding.decode(parameter: piece[..<equals]),
                let value = PercentCoding.decode(parameter: piece[(equals + 1)...])
            else { throw RequestRejection(carrier, code: 65, message: "Malformed percent escape") }
            values[name] = value
        }
        guard let literal else { return }
        guard let text = String(validating: literal.text, as: UTF8.self) else { throw wrong(.message) }
        values[ParameterName.message.rawValue] = text
    }

    func wrong(_ name: ParameterName) -> RequestRejection {
        RequestRejection(carrier, code: 65, message: "Invalid value of \(name.rawValue)")
    }

    /// The rejection of a line that lacks a parameter.
    func missing(_ name: ParameterName) -> RequestRejection {
        RequestRejection(carrier, code: 67, message: "Missing \(name.rawValue)")
    }

    /// Whether a parameter is present; it may be empty.
    func has(_ name: ParameterName) -> Bool { values[name.rawValue] != nil }

    /// A text; nil if absent.
    func text(_ name: ParameterName) -> String? { values[name.rawValue] }

    func required(_ name: ParameterName) throws(RequestRejection) -> String {
        guard let value = values[name.rawValue] else { throw missing(name) }
        return value
    }

    /// A value with its own syntax; nil if absent.
    func value<Value>(_ name: ParameterName, _ parse: (String) -> Value?) throws(RequestRejection) -> Value? {
        guard let text = values[name.rawValue] else { return nil }
        guard let value = parse(text) else { throw wrong(name) }
        return value
    }

    /// A required value with its own syntax.
    func requiredValue<Value>(_ name: ParameterName, _ parse: (String) -> Value?) throws(RequestRejection) -> Value {
        guard let value = try value(name, parse) else { throw missing(name) }
        return value
    }

    /// A whole number that is at least a minimum; nil if absent.
    func count(_ name: ParameterName, from minimum: Int = 0) throws(RequestRejection) -> Int? {
        try value(name) { text in
            WireNumber.count(Array(text.utf8)[...]).flatMap { $0 >= minimum ? $0 : nil }
        }
    }

    func flag(_ name: ParameterName, default defaultValue: Bool) throws(RequestRejection) -> Bool {
        try value(name) { ["true": true, "false": false][$0] } ?? defaultValue
    }

    /// The session of the line or of the query string.
    var sessionID: SessionID? { text(.session).map(SessionID.init) }

    /// The identifier of a control or message request, to which later rejections are addressed.
    mutating func takeRequestID() throws(RequestRejection) -> RequestID {
        let requestID = RequestID(try required(.requestID))
        guard requestID.isWellFormed else {
            throw RequestRejection(carrier, code: 67, message: "Invalid value of \(ParameterName.requestID.rawValue)")
        }
        carrier = .request(requestID)
        return requestID
    }

    /// The operation is known: later rejections wait for the look for the session.
    mutating func operationKnown(isMobilePush: Bool = false) {
        guard case .request(let requestID) = carrier else { return }
        carrier = .operation(requestID, in: sessionID, isMobilePush: isMobilePush)
    }

    func subscriptionID() throws(RequestRejection) -> SubscriptionID {
        guard let number = try count(.subscriptionID, from: 1) else { throw missing(.subscriptionID) }
        return SubscriptionID(number)
    }
}

/// The reason for which a server rejects a request, and the notification that carries it.
package struct RequestRejection: Error, Sendable, Hashable {
    /// The notification that carries the rejection.
    package enum Carrier: Sendable, Hashable {
        /// `CONERR`: the request opens a stream connection.
        case connection
        /// `REQERR`: the request has an identifier.
        case request(RequestID)
        /// `REQERR`: the operation is known, so that an unknown session (nil: the request names none), and a missing module for
        /// mobile push, are refused before the parameters.
        case operation(RequestID, in: SessionID?, isMobilePush: Bool)
        /// `ERROR`: the request has no valid identifier.
        case unaddressed
    }

    /// The notification that carries the rejection.
    package var carrier: Carrier
    /// The error code: 65 for an invalid value or syntax, 67 for a missing parameter or an unknown request, 64 for an
    /// invalid operation within `create_session`.
    package var code: Int
    /// An explanation in English.
    package var message: String

    package init(_ carrier: Carrier, code: Int, message: String) {
        self.carrier = carrier
        self.code = code
        self.message = message
    }

    /// `CONERR` 64: an operation within `create_session` is invalid.
    package static func creation(_ reason: String, of subscription: String? = nil) -> RequestRejection {
        let part = subscription.map { "subscription \($0): " } ?? ""
        let message = "Unexpected error while initializing the session: \(part)\(reason)"
        return RequestRejection(.connection, code: 64, message: message)
    }

    /// Code 65: no server of this package serves the version that a client names, as a value of `LS_protocol` or as a WebSocket
    /// subprotocol; nil: the client names none.
    package static func unsupportedVersion(_ name: String?, _ carrier: Carrier) -> RequestRejection {
        let version = (name ?? "none").trimmingPrefix("TLCP-").replacing(".lightstreamer.com", with: "")
        return RequestRejection(carrier, code: 65, message: "Unsupported protocol version: \(version)")
    }

    package var notification: ServerNotification {
        switch carrier {
        case .connection: .conErr(code: code, message: message)
        case .request(let requestID), .operation(let requestID, _, _): .reqErr(requestID, code: code, message: message)
        case .unaddressed: .error(code: code, message: message)
        }
    }
}
