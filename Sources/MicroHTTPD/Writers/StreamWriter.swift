internal import CMicroHTTPD
internal import StreamIO

/// A stream from its opening to its end.
struct OpenStream {
    /// Its number.
    let id: StreamID
    /// The source of its bytes.
    let content: any StreamContent
    /// Called once, at its end.
    let onEnd: @Sendable (StreamEnd) -> Void

    /// The stream has ended.
    func ended(_ reason: StreamEnd) {
        content.ended(reason)
        onEnd(reason)
    }
}

/// The writer of one open stream, in one of two ways: the loop writes to a socket taken from the library, or the
/// library reads through a content reader (TLS). Confined to its loop's thread.
protocol StreamWriter: AnyObject {
    /// The stream that it writes.
    var stream: OpenStream { get }
    /// When the client stopped accepting bytes; nil if it accepts them, or none are pending.
    var blockedSince: Moment? { get }

    /// The socket, if shared bytes can be written to it as they are.
    var socket: Int32? { get }

    /// Starts watching for the client; false if the system refuses.
    func begin(_ poller: Poller) -> Bool

    /// Sends the due bytes of the content.
    func write(_ batch: inout StreamBatch, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome

    /// The client accepted only this many bytes of a shared write: keeps the rest. The stream is blocked.
    func keep(_ pieces: [StreamPiece], after count: Int, _ poller: Poller, now: Moment)

    /// Handles an event of the descriptor; nil if it changes nothing.
    func noticed(_ events: Poller.Events, _ output: SocketOutput, _ poller: Poller, now: Moment) -> WriteOutcome?

    /// Ends the stream: closes its socket, or returns the connection to the library and does not access it afterwards.
    ///
    /// - Parameter closingBody: Whether the body should be ended properly, if that is possible at once.
    func end(_ output: SocketOutput, _ poller: Poller, closingBody: Bool)
}

/// The result of a visit of a stream.
enum WriteOutcome {
    /// All bytes are sent; nothing more is due before the deadline.
    case idle(wakeAt: Moment?)
    /// All bytes are sent; more are due.
    case more
    /// The client is slower than the stream, which is visited again when it can be written.
    case blocked
    /// The library will read the bytes.
    case handedOver
    /// The stream has ended.
    case over(StreamEnd)
}

/// Writes the head of a response whose bytes are not sent by the library.
enum StreamHeadEncoder {
    /// Status line and header lines, with the empty line behind them. Lines that are not allowed are omitted.
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
