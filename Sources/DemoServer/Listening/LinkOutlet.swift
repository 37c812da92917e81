/// What a channel can do for the conversation; used on the event loop only.
protocol LinkOutlet: AnyObject {
    /// Answers the HTTP request as a whole.
    func respond(_ answer: HTTPAnswer)
    /// Begins an HTTP response of unknown length.
    func openStream()
    /// Writes bytes at once; a fragment is gone on with by the next write.
    func write(_ bytes: [UInt8], isFragment: Bool)
    /// Ends an HTTP response.
    func endStream(closesSocket: Bool)
    /// Closes a WebSocket with a code.
    func close(code: Int)
    /// Breaks the connection.
    func cut()
    /// Reads no more.
    func stopReading()
}
