/// `LS_op=constrain`: changes the bandwidth limit of the session.
package struct ConstrainRequest: Sendable, Hashable {
    static let operation = "constrain"

    /// The requested limit; nil: no change.
    package var maxBandwidth: RequestedMaxBandwidth?

    package init(maxBandwidth: RequestedMaxBandwidth?) { self.maxBandwidth = maxBandwidth }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.maxBandwidth, maxBandwidth?.wire)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        maxBandwidth = try parameters.value(.maxBandwidth, RequestedMaxBandwidth.init(wire:))
    }
}

/// `LS_op=force_rebind`: makes the server end the stream connection with `LOOP`.
package struct ForceRebindRequest: Sendable, Hashable {
    static let operation = "force_rebind"

    /// The expected time until the next bind, in milliseconds; nil: unspecified.
    package var pollingMillis: Int?
    /// Whether the server also closes the socket of the stream connection.
    package var closesSocket: Bool
    /// The reason, for diagnosis.
    package var cause: String?

    package init(pollingMillis: Int? = nil, closesSocket: Bool = false, cause: String? = nil) {
        self.pollingMillis = pollingMillis
        self.closesSocket = closesSocket
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.pollingMillis, pollingMillis)
        line.add(.closeSocket, closesSocket, unless: false)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        pollingMillis = try parameters.count(.pollingMillis)
        closesSocket = try parameters.flag(.closeSocket, default: false)
        cause = parameters.text(.cause)
    }
}

/// `LS_op=destroy`: ends the session.
package struct DestroyRequest: Sendable, Hashable {
    static let operation = "destroy"

    /// The code for `END`, at most 0; nil: 31.
    package var causeCode: Int?
    /// The message for `END`; ignored without a code.
    package var causeMessage: String?
    /// Whether the server also closes the socket of the stream connection.
    package var closesSocket: Bool
    /// The reason, for diagnosis.
    package var cause: String?

    package init(causeCode: Int? = nil, causeMessage: String? = nil, closesSocket: Bool = false, cause: String? = nil) {
        self.causeCode = causeCode
        self.causeMessage = causeMessage
        self.closesSocket = closesSocket
        self.cause = cause
    }

    /// The resulting `END`: a positive code becomes 0, a missing message `null`.
    package var end: ServerNotification {
        guard let causeCode else { return .end(code: 31, message: "Destroy invoked by client") }
        return .end(code: min(causeCode, 0), message: causeMessage ?? "null")
    }

    func write(to line: inout ParameterWriter) {
        line.add(.operation, Self.operation)
        line.add(.causeCode, causeCode)
        line.add(.causeMessage, causeMessage)
        line.add(.closeSocket, closesSocket, unless: false)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRejection) {
        causeCode = try parameters.value(.causeCode) { WireNumber.integer(Array($0.utf8)[...]) }
        causeMessage = parameters.text(.causeMessage)
        closesSocket = try parameters.flag(.closeSocket, default: false)
        cause = parameters.text(.cause)
    }
}
