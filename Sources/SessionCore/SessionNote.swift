/// What a session's driver may want to log; carries no secrets.
package enum SessionNote: Sendable, Equatable {
    /// A control link was ignored since the list of allowed addresses does not hold it.
    case controlLinkRefused(String)
    /// No transport is admitted by `forcedTransport` and by what was found not to work; all are tried again.
    case noTransportAdmitted
    /// A line could not be understood.
    case badLine(reason: String)
}
