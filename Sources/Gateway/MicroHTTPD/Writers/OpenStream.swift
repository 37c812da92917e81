internal import Primitives
internal import StreamIO

/// A stream from its opening to its end.
struct OpenStream {
    let id: StreamID
    let content: any StreamContent
    /// Called once, at its end.
    let onEnd: @Sendable (StreamEnd) -> Void

    func ended(_ reason: StreamEnd) {
        content.ended(reason)
        onEnd(reason)
    }
}

/// The result of a visit of a stream.
enum WriteOutcome {
    /// All bytes are sent; nothing more is due before the deadline.
    case idle(wakeAt: Moment?)
    /// All bytes are sent; more are due.
    case more
    /// The client is slower than the stream, which is visited again when it can be written.
    case blocked
    case over(StreamEnd)
}
