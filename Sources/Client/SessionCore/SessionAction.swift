package import TLCP

/// An order of the session machine to its driver, which performs the actions in the order of the list.
package enum SessionAction: Sendable, Equatable {
    /// Open a connection; report `transportOpened` for a WebSocket once it is usable, `received` for its lines, and
    /// `transportClosed` once when it ends, unless the machine closes it first.
    indirect case openTransport(ConnectionID, TransportRequest)
    /// Send one text message on an open WebSocket. It may hold the password, so it must not be logged.
    case send(ConnectionID, [UInt8])
    /// Close a connection and report nothing more of it. Data sent before is written first.
    case closeTransport(ConnectionID)
    /// The last line of an HTTP response was received: let the response end, so that its socket can be reused, or
    /// close it. Report nothing more of it.
    case releaseTransport(ConnectionID)
    /// Report `timerFired` with this identifier, once, after this time.
    case scheduleTimer(SessionTimer, after: Duration)
    /// Cancel a timer. The machine ignores a firing that is already under way.
    case cancelTimer(SessionTimer)
    case notify(SessionEvent)
    /// The events that follow come from the data notification of this number, up to the next such action; 0: the
    /// session begins. Only with `SessionConfiguration.numbersNotifications`.
    case numbered(Int)
    /// The server at an address supports at most this version; clients created later for that address should start with
    /// it.
    case rememberVersion(ProtocolVersion, address: String)
    case log(SessionLogEvent)
}

/// An event for the log; contains no secrets.
package enum SessionLogEvent: Sendable, Equatable {
    /// A control link was ignored because the list of allowed addresses does not contain its address.
    case controlLinkRefused(String)
    /// Every transport that `forcedTransport` admits was found not to work; all are tried again.
    case noTransportAdmitted
    /// `PROG` differs from the client's count of notifications: the session is replaced.
    case progressMismatch(received: Int, expected: Int)
    /// A line could not be understood.
    case badLine(reason: String)
    /// Two control requests in succession have failed, the second one for this reason, while the stream goes on: subscriptions
    /// and messages wait.
    case controlRequestsFail(reason: String)
}
