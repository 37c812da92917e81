/// What a handler decides about a request.
package enum HTTPDecision {
    /// This response, now.
    case respond(HTTPResponse)
    /// The responder will be used later, exactly once, from any thread. Requests that follow on the same connection
    /// wait for it.
    case wait
    /// An open response whose bytes come from the content, until one of both ends it.
    case stream(HTTPStreamHead, any StreamContent)
}
