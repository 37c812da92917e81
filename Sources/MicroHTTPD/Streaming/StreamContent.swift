/// Where the bytes of one stream come from. All methods are called on the thread of the stream's loop only.
///
/// The order is: `opened` once, then `fill` any number of times, then `ended` once. A content whose stream could not be
/// opened (its client had gone, or only wanted the head) gets `ended` alone.
package protocol StreamContent: AnyObject {
    /// The stream stands; `fill` follows in the same pass.
    func opened(_ opening: StreamOpening)

    /// Gives the bytes that are due now.
    ///
    /// Called when the feed named the stream, when the deadline of the last `.idle` has come, after `.more`, and
    /// when the client took the bytes that had blocked it; never while the stream is blocked. A call with nothing due
    /// is normal and answers `.idle`.
    ///
    /// - Parameters:
    ///   - batch: Takes ranges of shared bytes. They have to stay unchanged for as long as their owner lives.
    ///   - now: The time of this pass.
    /// - Returns: What comes next.
    func fill(_ batch: inout StreamBatch, now: StreamTime) -> StreamProgress

    /// The client is slower than we are: the stream has no turn, and no part in shared writes, until `fill` is called
    /// again. What it was given so far will be sent.
    func blocked()

    /// The stream is over; nothing is called after this.
    func ended(_ reason: StreamEnd)
}

extension StreamContent {
    /// Nothing to do for a content that takes no part in shared writes.
    package func blocked() {}
}
