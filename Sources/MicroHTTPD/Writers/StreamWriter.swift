internal import CMicroHTTPD
internal import StreamIO

/// A stream from its opening to its end.
struct OpenStream {
    /// Its number.
    let id: StreamID
    /// Where its bytes come from.
    let content: any StreamContent
    /// Called once, when it is over.
    let onEnd: @Sendable (StreamEnd) -> Void

    /// The stream is over.
    func ended(_ reason: StreamEnd) {
        content.ended(reason)
        onEnd(reason)
    }
}

/// The writer of one open stream, in one of two ways: written by us to a socket taken from the library, or read by the
/// library through a content reader (TLS). Confined to its loop's thread.
protocol StreamWriter: AnyObject {
    /// The stream that it writes.
    var stream: OpenStream { get }
    /// Since when the client takes nothing; nil if it does, or has nothing to take.
    var blockedSince: Moment? { get }

    /// The socket, if shared bytes can be written to it as they are.
    var socket: Int32? { get }

    /// Starts watching for the client; false if the system refuses.
    func begin(_ poller: Poller) -> Bool

    /// Gets what is due from the content and sends it off.
    func write(_ batch: inout StreamBatch, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome

    /// The client took only so many bytes of a shared write: keeps what is left of it. The stream is blocked.
    func keep(_ pieces: [StreamPiece], after count: Int, _ poller: Poller, now: Moment)

    /// Something happened to the descriptor; nil if that changes nothing.
    func noticed(_ events: Poller.Events, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome?

    /// The stream is over: closes its socket, or gives the connection back to the library and does not touch it after.
    ///
    /// - Parameter closingBody: Whether the body should be ended properly, if that is possible at once.
    func end(_ output: SocketOutput, _ poller: Poller, closingBody: Bool)
}

/// What became of a stream's turn.
enum WriteOutcome {
    /// All is sent; nothing more is due before the deadline.
    case idle(wakeAt: Moment?)
    /// All is sent; more is due.
    case more
    /// The client is slower than we are; the stream has no turn until it can be written again.
    case blocked
    /// The library will come for the bytes.
    case handedOver
    /// The stream is over.
    case over(StreamEnd)
}

/// Writes the head of a response whose bytes do not pass through the library.
enum StreamHeadEncoder {
    /// Status line and header lines, with the empty line behind them. Lines that are not allowed are left out.
    static func encode(_ head: HTTPStreamHead, isChunked: Bool, date: String) -> [UInt8] {
        let status = HTTPResponse(status: head.status).sendableStatus
        let phrase = MHD_get_reason_phrase_for(status).map { String(cString: $0) } ?? "Unknown"
        var text = "HTTP/1.1 \(status) \(phrase)\r\nDate: \(date)\r\nConnection: close\r\n"
        if isChunked { text += "Transfer-Encoding: chunked\r\n" }
        for line in head.headers.lines where line.isSendable && !line.isNamed("Connection") {
            text += "\(line.name): \(line.value)\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
