/// What the metadata adapter makes of the text of a message.
///
///     CHAT|text         published in the chat room
///     ECHO|text         processed; the response is the text, as it is for every text that is not listed here
///     FAIL|code|text    processing fails with that code
///     DELAY|ms|message  the message, but it takes that long; later ones of the sequence wait
///     END|code|text     the session ends
///     FAULT|script      misbehaviour is installed, see `FaultScript`; only where clients may do that
enum MessageMeaning: Sendable, Hashable {
    /// Processed, with this response.
    case done(response: String)
    /// Published in the chat room.
    case chat(String)
    /// Failed.
    case failed(code: Int, message: String)
    /// To be looked at again after a while.
    case later(Duration, rest: String)
    /// The session is to end.
    case end(SessionEnd)
    /// Misbehaviour is asked for.
    case fault(script: String)

    /// Reads a text.
    init(_ text: String) {
        let parts = text.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            self = .done(response: text)
            return
        }
        let rest = String(parts[1])
        let words = rest.split(separator: "|", maxSplits: 1, omittingEmptySubsequences: false)
        let number = Int(words[0])
        let tail = words.count == 2 ? String(words[1]) : ""
        switch (parts[0], number) {
        case ("CHAT", _): self = .chat(rest)
        case ("ECHO", _): self = .done(response: rest)
        case ("FAULT", _): self = .fault(script: rest)
        case ("FAIL", let code?): self = .failed(code: code, message: tail)
        case ("DELAY", let milliseconds?): self = .later(.boundedMilliseconds(milliseconds), rest: tail)
        case ("END", let code?): self = .end(SessionEnd(code: code, message: tail))
        default: self = .done(response: text)
        }
    }
}
