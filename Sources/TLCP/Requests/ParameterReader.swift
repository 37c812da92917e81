/// The parameters of one line, decoded. Of a name that stands twice the last value counts; names that nobody asks for
/// are ignored.
struct ParameterReader {
    private var values: [String: String]
    /// Who is told when something is wrong.
    var carrier: RequestRefusal.Carrier

    /// The parameters of a line, with those of the query string as defaults.
    init(
        _ line: ArraySlice<UInt8>,
        defaults: ParameterReader? = nil,
        carrier: RequestRefusal.Carrier
    ) throws(RequestRefusal) {
        self.carrier = carrier
        values = defaults?.values ?? [:]
        for piece in line.split(separator: UInt8(ascii: "&")) {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else {
                throw RequestRefusal(carrier, code: 65, message: "Parameter without a value")
            }
            guard let name = PercentCoding.decode(parameter: piece[..<equals]),
                let value = PercentCoding.decode(parameter: piece[(equals + 1)...])
            else { throw RequestRefusal(carrier, code: 65, message: "Malformed percent escape") }
            values[name] = value
        }
    }

    /// A refusal of a parameter with a wrong value.
    func wrong(_ name: ParameterName) -> RequestRefusal {
        RequestRefusal(carrier, code: 65, message: "Invalid value of \(name.rawValue)")
    }

    /// A refusal of a line that lacks a parameter.
    func missing(_ name: ParameterName) -> RequestRefusal {
        RequestRefusal(carrier, code: 67, message: "Missing \(name.rawValue)")
    }

    /// Whether a parameter is there, maybe empty.
    func has(_ name: ParameterName) -> Bool { values[name.rawValue] != nil }

    /// A text; nil if it is not there.
    func text(_ name: ParameterName) -> String? { values[name.rawValue] }

    /// A text that must be there.
    func required(_ name: ParameterName) throws(RequestRefusal) -> String {
        guard let value = values[name.rawValue] else { throw missing(name) }
        return value
    }

    /// A text that must be there and must not be empty.
    func requiredNonEmpty(_ name: ParameterName) throws(RequestRefusal) -> String {
        let value = try required(name)
        if value.isEmpty { throw wrong(name) }
        return value
    }

    /// A value with a syntax of its own; nil if it is not there.
    func value<Value>(_ name: ParameterName, _ parse: (String) -> Value?) throws(RequestRefusal) -> Value? {
        guard let text = values[name.rawValue] else { return nil }
        guard let value = parse(text) else { throw wrong(name) }
        return value
    }

    /// A value with a syntax of its own that must be there.
    func requiredValue<Value>(_ name: ParameterName, _ parse: (String) -> Value?) throws(RequestRefusal) -> Value {
        guard let value = try value(name, parse) else { throw missing(name) }
        return value
    }

    /// A whole number from a minimum.
    func count(_ name: ParameterName, from minimum: Int = 0) throws(RequestRefusal) -> Int? {
        try value(name) { text in
            WireNumber.count(Array(text.utf8)[...]).flatMap { $0 >= minimum ? $0 : nil }
        }
    }

    /// A truth value.
    func flag(_ name: ParameterName, default defaultValue: Bool) throws(RequestRefusal) -> Bool {
        try value(name) { ["true": true, "false": false][$0] } ?? defaultValue
    }

    /// The session that the line or the query names.
    var sessionID: SessionID? { text(.session).map(SessionID.init) }

    /// The identifier of a control or message request; from here on refusals are addressed to it.
    mutating func takeRequestID() throws(RequestRefusal) -> RequestID {
        let requestID = RequestID(try required(.requestID))
        guard requestID.isWellFormed else {
            throw RequestRefusal(carrier, code: 67, message: "Invalid value of \(ParameterName.requestID.rawValue)")
        }
        carrier = .request(requestID)
        return requestID
    }

    /// The identifier of a subscription.
    func subscriptionID() throws(RequestRefusal) -> SubscriptionID {
        guard let number = try count(.subscriptionID, from: 1) else { throw missing(.subscriptionID) }
        return SubscriptionID(number)
    }
}

/// Why a server cannot take a request, and how it says so.
package struct RequestRefusal: Error, Sendable, Hashable {
    /// The line that carries the refusal.
    package enum Carrier: Sendable, Hashable {
        /// `CONERR`: the request wanted a stream connection.
        case connection
        /// `REQERR`: the request has an identifier.
        case request(RequestID)
        /// `ERROR`: the request cannot be told from others.
        case unaddressed
    }

    /// The line that carries the refusal.
    package var carrier: Carrier
    /// The error code: 65 a wrong value or syntax, 67 something missing or unknown, 64 a bad part of a combo.
    package var code: Int
    /// The reason, for people.
    package var message: String

    /// A refusal.
    package init(_ carrier: Carrier, code: Int, message: String) {
        self.carrier = carrier
        self.code = code
        self.message = message
    }

    /// The line to answer with.
    package var notification: ServerNotification {
        switch carrier {
        case .connection: .conErr(code: code, message: message)
        case .request(let requestID): .reqErr(requestID, code: code, message: message)
        case .unaddressed: .error(code: code, message: message)
        }
    }
}
