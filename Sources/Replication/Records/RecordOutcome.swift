/// What a request waits for until the log decides.
package enum RecordSubject: Sendable, Hashable {
    /// The use of a ticket.
    case ticket(RecordKey)
    /// The opening of a prepared stream.
    case stream(String)
}

/// The decision of the log, which is the same on every member.
package enum RecordOutcome: Sendable, Equatable {
    /// The request may be performed.
    case accepted
    /// Another request was first.
    case refused
    /// There is nothing that the request could be about.
    case unknown
}
