package import TLCP

/// Everything that the session machine may ask its driver for. The driver performs actions in the order of the list.
package enum SessionAction: Sendable, Equatable {
    /// Open a connection; report `transportOpened` for a WebSocket once it is usable, `received` for its lines, and
    /// `transportClosed` once when it ends, unless the machine closes it first.
    indirect case openTransport(ConnectionID, TransportRequest)
    /// Send one text message on an open WebSocket. It may hold the password, so it must not be logged.
    case send(ConnectionID, [UInt8])
    /// Close a connection; nothing of it needs to be reported any more. What was sent before goes out first.
    case closeTransport(ConnectionID)
    /// The last line of an HTTP response has come, and what remains of it is noise: let it end, so that its socket can
    /// be used again, or close it. Nothing of it needs to be reported any more.
    case releaseTransport(ConnectionID)
    /// Report `timerFired` with this identifier, once, after this time.
    case scheduleTimer(TimerID, after: Duration)
    /// Forget a timer. A firing that is already on its way does no harm.
    case cancelTimer(TimerID)
    /// Tell the user.
    case notify(SessionEvent)
    /// The server at an address speaks at most this version; clients made later for that address should begin with it.
    case rememberVersion(ProtocolVersion, address: String)
    /// Something worth a line in the log.
    case log(SessionLogEvent)
}

/// What a session's driver may want to log; carries no secrets.
package enum SessionLogEvent: Sendable, Equatable {
    /// A control link was ignored since the list of allowed addresses does not hold it.
    case controlLinkRefused(String)
    /// No transport is admitted by `forcedTransport` and by what was found not to work; all are tried again.
    case noTransportAdmitted
    /// A line could not be understood.
    case badLine(reason: String)
}
