package import StreamIO

/// What a handler decides about a request.
package enum HTTPDecision {
    /// This response, now.
    case respond(HTTPResponse)
    /// The responder will be used later, exactly once, from any thread. Requests that follow on the same connection
    /// wait for it.
    case wait
    /// An open response: the feed of the connection's loop opens the stream and gives its bytes.
    case stream(HTTPStreamHead, AdmittedStream)
}
