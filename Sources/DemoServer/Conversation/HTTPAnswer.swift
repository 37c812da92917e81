/// A whole HTTP answer.
package struct HTTPAnswer: Sendable, Equatable {
    /// The HTTP status.
    package var status: Int
    /// The body.
    package var body: [UInt8]
    /// Whether the connection ends after it.
    package var closesSocket: Bool

    /// Puts an answer together.
    package init(status: Int = 200, body: [UInt8] = [], closesSocket: Bool = false) {
        self.status = status
        self.body = body
        self.closesSocket = closesSocket
    }
}
