/// `heartbeat`: tells that the client is there.
package struct HeartbeatRequest: Sendable, Hashable {
    /// The session; nil: that of the query string, or the one last bound to this WebSocket, if any.
    package var sessionID: SessionID?

    /// A request.
    package init(sessionID: SessionID? = nil) { self.sessionID = sessionID }

    func write(to line: inout ParameterWriter) { line.add(.session, sessionID?.rawValue) }

    init(reading parameters: ParameterReader) { sessionID = parameters.sessionID }
}
