/// What other threads want from a loop.
///
/// Unchecked: the content in an answer is not Sendable. It comes in as a `sending` argument of `HTTPResponder.stream`,
/// so the sender has given it up, and is touched next on the loop's thread, behind the mailbox's lock.
enum LoopMessage: @unchecked Sendable {
    /// What a responder was given.
    enum Answer {
        case response(HTTPResponse)
        case stream(HTTPStreamHead, any StreamContent)
    }

    /// The answer to a waiting exchange.
    case answer(UInt64, Answer)
    /// Serve new connections with this certificate; tell what went wrong, if anything.
    case replaceCertificate(DaemonConfiguration.Certificate, told: @Sendable (DaemonError?) -> Void)
    /// Stop listening.
    case stopAccepting
    /// Tell when nothing goes on any more, or the moment has come.
    case drain(until: StreamTime, told: @Sendable (Bool) -> Void)
    /// End everything, and the thread.
    case close
}
