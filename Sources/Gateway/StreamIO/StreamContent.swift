package import Primitives

/// The bytes of one open stream. All methods are called on the thread of the stream's loop: `fill` any number of times,
/// then `ended` once.
package protocol StreamContent: AnyObject {
    /// Appends the bytes that are due now.
    ///
    /// Called when the feed reported the stream, at the deadline of the last `.idle`, after `.more`, and when the
    /// client accepted the bytes that had blocked it; never while the stream is blocked. A call with nothing due is
    /// normal and returns `.idle`.
    ///
    /// - Parameters:
    ///   - batch: Receives ranges of shared bytes.
    ///   - now: The time of this pass.
    /// - Returns: When the next call is due.
    func fill(_ batch: inout StreamBatch, now: Moment) -> StreamProgress

    /// The client reads more slowly than the stream is written: the stream takes no part in shared writes until
    /// `fill` is called again. The bytes appended so far will be sent.
    func blocked()

    /// The stream has ended; no method is called after this.
    func ended(_ reason: StreamEnd)
}

/// When a content is due again.
package enum StreamProgress: Sendable, Hashable {
    /// Nothing more is due: visit again when the feed reports the stream, or at the deadline if there is one (rounded
    /// up to the loop's timer, 10 ms).
    case idle(wakeAt: Moment?)
    /// The batch was full and more is due: visit again after the other streams.
    case more
    /// The last bytes: the stream ends after them.
    case finish
}

package enum StreamEnd: Sendable, Hashable {
    /// The content returned `.finish`, and its last bytes were passed to the kernel.
    case finished
    /// The client closed its side, or the connection broke.
    case peerClosed
    /// The client accepted no bytes for longer than the configured time.
    case blockedTooLong
    case daemonClosed
    /// The stream was not opened: its client had left before, or the request was a `HEAD`.
    case neverOpened
}

/// The form of the bytes that a content appends.
package enum StreamFraming: Sendable, Hashable {
    /// Complete chunks of the chunked transfer coding (see `ChunkFraming`); the loop writes the last, empty chunk.
    case chunked
    /// The payload alone, for HTTP/1.0 clients.
    case bare
}
