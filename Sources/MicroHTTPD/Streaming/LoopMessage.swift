internal import StreamIO

/// What other threads want from a loop.
enum LoopMessage: Sendable {
    /// What a responder was given.
    enum Answer: Sendable {
        case response(HTTPResponse)
        case stream(HTTPStreamHead, AdmittedStream)
    }

    /// The answer to a waiting exchange.
    case answer(UInt64, Answer)
    /// Serve new connections with this certificate; tell what went wrong, if anything.
    case replaceCertificate(DaemonConfiguration.Certificate, told: @Sendable (DaemonError?) -> Void)
    /// Stop listening.
    case stopAccepting
    /// Tell when nothing goes on any more, or the moment has come.
    case drain(until: Moment, told: @Sendable (Bool) -> Void)
    /// End everything, and the thread.
    case close
}
