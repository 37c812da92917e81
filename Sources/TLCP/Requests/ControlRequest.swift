/// `control`: one operation on a session.
package struct ControlRequest: Sendable, Hashable {
    /// The identifier that the response echoes.
    package var requestID: RequestID
    /// The session; nil: that of the query string, or the one last bound to this WebSocket.
    package var sessionID: SessionID?
    /// What is to be done.
    package var operation: ControlOperation

    /// A request.
    package init(requestID: RequestID, sessionID: SessionID? = nil, operation: ControlOperation) {
        self.requestID = requestID
        self.sessionID = sessionID
        self.operation = operation
    }

    func write(to line: inout ParameterWriter) {
        line.add(.session, sessionID?.rawValue)
        operation.write(to: &line, requestID: requestID)
    }

    init(reading parameters: ParameterReader) throws(RequestRefusal) {
        var parameters = parameters
        requestID = try parameters.takeRequestID()
        sessionID = parameters.sessionID
        operation = try ControlOperation(reading: parameters)
    }
}
