/// What the listeners have to do.
package enum ServerAction: Sendable, Equatable {
    /// Answer the HTTP request as a whole.
    case respond(LinkID, HTTPAnswer)
    /// Begin the response of an HTTP request: status 200, a body of unknown length whose parts follow.
    case openStream(LinkID)
    /// Write whole lines at once: a part of the HTTP body, or one text message.
    ///
    /// `isFragment`: the bytes end anywhere, the next write goes on in the same text message; only by a fault.
    case write(LinkID, [UInt8], isFragment: Bool = false)
    /// End the body of an HTTP stream; `closesSocket` also ends the connection.
    case endStream(LinkID, closesSocket: Bool)
    /// Close the WebSocket with a close frame of this code.
    case close(LinkID, code: Int)
    /// Break the connection without a goodbye.
    case cut(LinkID)
    /// Read no more from the connection, and leave it open.
    case stopReading(LinkID)
}
