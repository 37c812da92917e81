/// What a content says about itself after it filled a batch.
package enum StreamProgress: Sendable, Hashable {
    /// Nothing more is due. The next visit comes when the feed names the stream, or at the deadline if one is given
    /// (rounded up to the loop's coarse timer, 10 ms).
    case idle(wakeAt: StreamTime?)
    /// More is due, but the batch was full: visit again, after the others had their turn.
    case more
    /// These are the last bytes; the stream ends behind them.
    case finish
}
