/// The server's answer to one control or message request.
package enum RequestAnswer: Sendable, Equatable {
    /// `REQOK`.
    case accepted
    /// `REQERR`, with its code and its message.
    case refused(code: Int, message: String)
}
