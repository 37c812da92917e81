/// The subject of a record whose outcome a request waits for.
package enum RecordSubject: Sendable, Hashable {
    /// The use of a ticket.
    case ticket(RecordKey)
    /// The opening of a prepared stream.
    case stream(String)
    /// A request with an `Idempotency-Key`.
    case request(RecordKey)
    /// The claim of units of quotas, by its number.
    case quota(UInt64)
    /// The claim of credits of an upstream, by its number.
    case credits(UInt64)
}

/// The decision of the log, which is the same on every member.
package enum RecordOutcome: Sendable, Equatable {
    /// The request may be performed.
    case accepted
    /// Another request was first.
    case refused
    /// There is nothing that the request could be about.
    case unknown
    /// A member is performing the request.
    case pending
    /// A member has performed the request, with this response.
    case answered([UInt8])
}
