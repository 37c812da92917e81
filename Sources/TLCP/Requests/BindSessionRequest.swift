/// `bind_session`: an existing session goes on over this connection.
package struct BindSessionRequest: Sendable, Hashable {
    /// The session; nil: the one last bound to this WebSocket.
    package var sessionID: SessionID?
    /// How the connection behaves.
    package var connection: ConnectionParameters
    /// The number of data notifications received so far, after an interruption; nil: everything was received.
    package var recoveryFrom: Int?
    /// Why the session is bound, for diagnosis.
    package var cause: String?

    /// A request.
    package init(
        sessionID: SessionID?,
        connection: ConnectionParameters,
        recoveryFrom: Int? = nil,
        cause: String? = nil
    ) {
        self.sessionID = sessionID
        self.connection = connection
        self.recoveryFrom = recoveryFrom
        self.cause = cause
    }

    func write(to line: inout ParameterWriter) {
        line.add(.session, sessionID?.rawValue)
        line.add(.recoveryFrom, recoveryFrom)
        connection.writeTimes(to: &line)
        connection.writeFlags(to: &line)
        line.add(.cause, cause)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        sessionID = parameters.sessionID
        recoveryFrom = try parameters.count(.recoveryFrom)
        connection = try ConnectionParameters(reading: parameters)
        cause = parameters.text(.cause)
    }
}
