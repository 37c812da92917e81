/// The effect of a fault.
public enum FaultEffect: Sendable, Hashable {
    /// The connection is cut without closing the protocol; the session stays, as after a network failure.
    case drop
    /// The next line is cut off after this many bytes, its CR-LF included, and then the connection is cut; nil: in the
    /// middle of the line.
    case cutLine(after: Int? = nil)
    /// Writes on the connection are lost for this time.
    case mute(Duration)
    /// Writes on the connection are delayed for this time.
    case stall(Duration)
    /// Nothing is written or read, and the connection stays open.
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
    /// The request is executed, its response is lost.
    case loseAnswer
    /// The response is delayed by this time; the execution is not.
    case delay(Duration)
    /// The response is sent twice.
    case duplicateAnswer
    /// The responses of a batch are sent in reverse order, after the notifications that the batch caused.
    case lateAnswers
    /// The HTTP stream is held back until it ends, as by a buffering proxy.
    case holdStream
    /// The counts of `SUBOK`/`SUBCMD` are wrong by these numbers.
    case wrongCounts(items: Int, fields: Int)
    /// `PROG` is too high by this number; with a negative number the stream restarts at an earlier notification, if it
    /// is still kept.
    case progress(Int)
    /// A recovery is refused with code 4.
    case refuseRecovery
    /// `CONOK` carries this control link.
    case controlLink(String)
    /// The connection ends by `LOOP` after this many bytes, in place of the requested content length.
    case contentLength(Int)
    /// Every write on the connection is cut into pieces of seeded random length of at most this many bytes.
    case split(maxLength: Int)
    /// Every line travels in a WebSocket message or chunk of its own.
    case oneLinePerWrite
    /// These lines are written as they are and not counted as notifications.
    case inject([String])
    /// The last data notification is written a second time, and not counted.
    case repeatData
    /// The next data notification is counted but not written.
    case skipData
    /// `CLIENTIP` has this address.
    case clientAddress(String)
    /// Commas in text arguments are not escaped.
    case rawCommas
}

extension FaultEffect {
    /// Time after which a half-open connection is cut.
    static let longestHalfOpen = Duration.seconds(120)

    /// When the effect happens if the fault names no moment.
    public var defaultMoment: FaultMoment {
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
