internal import TLCP

/// How one request is answered, where faults have a say.
struct AnswerManner: Sendable {
    /// The request is refused.
    var refusal: ServerNotification?
    /// The request is as if it had not come.
    var isIgnored = false
    /// The answer gets lost.
    var isLost = false
    /// The answer comes at the end of the batch.
    var isLate = false
    /// The answer comes this much later.
    var delay: Duration?
    /// How often the answer comes.
    var copies = 1
    /// Commas stay as they are.
    var keepsCommas = false
    /// What happens to the session's stream once the request is dealt with.
    var onStream: [FaultEffect] = []
    /// The counts of the announcement are wrong by these.
    var wrongCounts = (items: 0, fields: 0)
}
