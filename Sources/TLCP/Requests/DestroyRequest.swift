/// `LS_op=destroy`: ends the session.
package struct DestroyRequest: Sendable, Hashable {
    static let operation = "destroy"

    /// The code that `END` is to carry, at most 0; nil: 31.
    package var causeCode: Int?
    /// The message that `END` is to carry; counts only beside a code.
    package var causeMessage: String?
    /// Whether the server also closes the socket of the stream connection.
    package var closesSocket: Bool
    /// Why, for diagnosis.
    package var cause: String?

    /// A request.
    package init(
        causeCode: Int? = nil,
        causeMessage: String? = nil,
        closesSocket: Bool = false,
        cause: String? = nil
    ) {
        self.causeCode = causeCode
        self.causeMessage = causeMessage
        self.closesSocket = closesSocket
        self.cause = cause
    }

    /// The `END` that the operation asks for: a positive code becomes 0, a missing message `null`.
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

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        causeCode = try parameters.value(.causeCode) { WireNumber.integer(Array($0.utf8)[...]) }
        causeMessage = parameters.text(.causeMessage)
        closesSocket = try parameters.flag(.closeSocket, default: false)
        cause = parameters.text(.cause)
    }
}
