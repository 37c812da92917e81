/// What can go wrong on purpose.
package enum FaultEffect: Sendable, Hashable {
    /// The connection is cut without a goodbye; the session stays, as after a network failure.
    case drop
    /// The next line is cut after so many bytes, CR-LF among them, then the connection; nil: in its middle.
    case cutLine(after: Int? = nil)
    /// What is written on the connection during this time is lost.
    case mute(Duration)
    /// What is written on the connection during this time arrives only after it.
    case stall(Duration)
    /// Nothing is written or read any more, yet the connection stays open.
    case halfOpen
    /// The stream ends with `LOOP,<delay>`.
    case loop(delayMilliseconds: Int)
    /// The session is closed with `END`.
    case end(code: Int, message: String)
    /// The request is refused: `CONERR` for create and bind, `REQERR` for control and messages.
    case refuse(code: Int, message: String)
    /// The request is answered with `ERROR`.
    case error(code: Int, message: String)
    /// The request is answered with this HTTP status, a WebSocket handshake likewise.
    case status(Int)
    /// The request is neither executed nor answered.
    case ignore
    /// The request is executed, its answer is lost.
    case loseAnswer
    /// The answer comes this much later; its effects do not wait.
    case delay(Duration)
    /// The answer is sent twice.
    case duplicateAnswer
    /// The answers of a batch come in reverse order, after the notifications that the batch caused.
    case lateAnswers
    /// The HTTP stream is held back until it ends, as by a buffering proxy.
    case holdStream
    /// The counts of `SUBOK`/`SUBCMD` are wrong by these numbers.
    case wrongCounts(items: Int, fields: Int)
    /// `PROG` is this much higher than what follows (negative: an honest restart from an earlier point, if still kept).
    case progress(Int)
    /// A recovery is refused with code 4.
    case refuseRecovery
    /// `CONOK` carries this control link.
    case controlLink(String)
    /// The connection ends by `LOOP` after this many bytes, whatever the client asked.
    case contentLength(Int)
    /// Every write on the connection is cut into pieces of seeded random length of at most this many bytes.
    case split(maxLength: Int)
    /// Every line travels in a WebSocket message or chunk of its own.
    case oneLinePerWrite
    /// These lines are written as they are, uncounted: unknown tags, empty lines, nonsense.
    case inject([String])
    /// The last data notification is written a second time, uncounted.
    case repeatData
    /// The next data notification is counted but not written.
    case skipData
    /// `CLIENTIP` tells this address.
    case clientAddress(String)
    /// Text arguments keep their commas.
    case rawCommas
}

extension FaultEffect {
    /// Time after which a half-open connection is cut.
    static let longestHalfOpen = Duration.seconds(120)

    /// The moment at which the effect strikes if none is named.
    package var naturalMoment: FaultMoment {
        switch self {
        case .drop, .cutLine, .mute, .stall, .halfOpen, .loop, .end, .inject, .repeatData, .skipData: .now
        case .refuse, .error, .ignore, .loseAnswer, .delay, .duplicateAnswer, .lateAnswers, .rawCommas:
            .request(.control)
        case .status: .request(.handshake)
        case .holdStream, .contentLength, .split, .oneLinePerWrite, .controlLink, .clientAddress: .request(.streaming)
        case .wrongCounts: .request(.add)
        case .progress, .refuseRecovery: .request(.recovery)
        }
    }
}
