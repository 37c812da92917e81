/// Counts the data notifications of a session, so that a recovery can name the first one that is missing.
///
/// The server's count and ours are equal but for the time after a recovery that restarted earlier than asked: then
/// the server repeats what we know already.
struct RecoveryCursor {
    /// What a `PROG` means.
    enum Resumption: Equatable {
        /// The flow goes on; what we know already is skipped.
        case resumed
        /// The flow cannot be what we expect: the session must be given up.
        case mismatch(received: Int, expected: Int)
    }

    /// The number of data notifications processed since the session began.
    private(set) var processed = 0
    private var sent = 0

    /// A data notification arrived. False: it was processed before, and must be skipped.
    mutating func isFresh() -> Bool {
        sent &+= 1
        guard sent > processed else { return false }
        processed = sent
        return true
    }

    /// A recovery is being asked for: unless a `PROG` says otherwise, the flow resumes where we stopped.
    mutating func recoveryRequested() { sent = processed }

    /// A `PROG` arrived.
    mutating func resumed(from progressive: Int, inRecovery: Bool) -> Resumption {
        if inRecovery {
            guard (0...processed).contains(progressive) else {
                return .mismatch(received: progressive, expected: sent)
            }
            sent = progressive
            return .resumed
        }
        return progressive == sent ? .resumed : .mismatch(received: progressive, expected: sent)
    }
}
