package import JSONText

/// Why a client has no connection, as REST and streams show it.
package struct LastFailure: Sendable, Equatable {
    /// The kind of the failure.
    package var reason: String
    /// The code of the server's error, or the HTTP status of its response; nil: neither.
    package var code: Int?
    /// The cause and the cure.
    package var detail: String
    /// When the first attempt failed for this reason, as a time of RFC 3339.
    package var since: String
    /// How many attempts have failed for this reason, one after the other.
    package var attempts: Int
    /// When the next attempt begins, as a time of RFC 3339; nil: unknown, or none.
    package var nextAttempt: String?

    package init(reason: String, code: Int?, detail: String, since: String, attempts: Int, nextAttempt: String?) {
        self.reason = reason
        self.code = code
        self.detail = detail
        self.since = since
        self.attempts = attempts
        self.nextAttempt = nextAttempt
    }
}

extension JSONBytes {
    /// The member `lastFailure`, null without a failure.
    package mutating func lastFailure(_ failure: LastFailure?) {
        key("lastFailure" as StaticString)
        guard let failure else { return null() }
        beginObject()
        member("reason", failure.reason)
        member("code", failure.code)
        member("detail", failure.detail)
        member("since", failure.since)
        member("attempts", failure.attempts)
        member("nextAttempt", failure.nextAttempt)
        endObject()
    }
}
